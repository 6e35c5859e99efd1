#include "pipeline/shared/module.h"

#include "plugins/files/zarr/parts.h"

namespace {
constexpr contorno::ArrayModule kTable{.open = contorno::zarr::open_array};
}  // namespace

CONTORNO_MODULE(kTable);
