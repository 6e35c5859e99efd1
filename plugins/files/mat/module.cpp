#include "pipeline/shared/module.h"

#include "plugins/files/mat/parts.h"

namespace {
constexpr contorno::ArrayModule kTable{.open = contorno::mat::open_array};
}  // namespace

CONTORNO_MODULE(kTable);
