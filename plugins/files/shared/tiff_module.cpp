#include "plugins/files/shared/tiff_module.h"

#include "plugins/modules.h"

namespace contorno {

const TiffModule& tiff_module() {
  return *static_cast<const TiffModule*>(open_module(kTiffModule));
}

}  // namespace contorno
