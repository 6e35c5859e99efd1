#include "plugins/files/arrays/hdf5.h"

#include "pipeline/shared/module.h"

namespace contorno {

std::unique_ptr<Hdf5Array> open_hdf5(const std::string& path, const std::string& member) {
  static constexpr ModuleSpec kSpec{.name = "hdf5",
                                    .does = "reads HDF5 files",
                                    .packages = "libhdf5-103-1",
                                    .purpose = "for HDF5 files",
                                    .addresses = std::size_t{16} << 20};
  return static_cast<const Hdf5Module*>(open_module(kSpec))->open(path, member);
}

}  // namespace contorno
