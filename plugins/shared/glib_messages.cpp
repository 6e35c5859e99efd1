#include "plugins/shared/glib_messages.h"

#include <atomic>

namespace contorno {
namespace {
std::atomic<GlibMessageTaker> taker = nullptr;
}  // namespace

void take_glib_messages(GlibMessageTaker say) {
  taker = say;
}

GlibMessageTaker claim_glib_messages() {
  return taker.exchange(nullptr);
}

}  // namespace contorno
