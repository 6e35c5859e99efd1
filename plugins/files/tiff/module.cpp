#include "pipeline/shared/module.h"

#include "plugins/files/shared/tiff_module.h"
#include "plugins/files/tiff/parts.h"

namespace {
constexpr contorno::TiffModule kTable{.open = contorno::tiff::open_file, .encode = contorno::tiff::encode};
}  // namespace

CONTORNO_MODULE(kTable);
