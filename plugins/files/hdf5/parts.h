// The function of this folder, which becomes the module hdf5.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/arrays/array_module.h"

namespace contorno::hdf5 {

/// Does what contorno::open_hdf5 does.
std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers);

}  // namespace contorno::hdf5
