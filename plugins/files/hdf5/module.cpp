#include "pipeline/shared/module.h"

#include "plugins/files/hdf5/parts.h"

namespace {
constexpr contorno::ArrayModule kTable{.open = contorno::hdf5::open_array};
}  // namespace

CONTORNO_MODULE(kTable);
