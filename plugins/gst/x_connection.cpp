#include "plugins/gst/x_connection.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>

namespace contorno::gst {
namespace {

std::atomic<bool> lost{false};

/// Xlib calls exit() when this returns, whatever is under way.
int on_lost(void* /*display*/) {
  lost = true;
  for (;;) ::pause();
}

}  // namespace

void survive_x_errors() {
  using Handler = int (*)(void* display);
  void* xlib = ::dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
  if (xlib == nullptr) return;
  const auto set_handler = reinterpret_cast<Handler (*)(Handler)>(::dlsym(xlib, "XSetIOErrorHandler"));
  if (set_handler != nullptr) set_handler(on_lost);
  ::dlclose(xlib);  // the plugin holds it
}

bool x_connection_lost() {
  return lost;
}

}  // namespace contorno::gst
