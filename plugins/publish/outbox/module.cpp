#include "pipeline/shared/module.h"

#include "plugins/publish/outbox/file_outbox.h"

namespace {
constexpr contorno::PublishModule kTable{.open = contorno::outbox::open_outbox,
                                         .read = contorno::outbox::read_outbox};
}  // namespace

CONTORNO_MODULE(kTable);
