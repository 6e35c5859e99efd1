#include "plugins/files/shared/tiff_module.h"

#include "pipeline/shared/module.h"

namespace contorno {

const TiffModule& tiff_module() {
  static constexpr ModuleSpec kSpec{.name = "tiff",
                                    .does = "reads and writes TIFF files",
                                    .packages = "libtiff6",
                                    .purpose = "for TIFF files",
                                    .addresses = std::size_t{8} << 20};
  return *static_cast<const TiffModule*>(open_module(kSpec));
}

}  // namespace contorno
