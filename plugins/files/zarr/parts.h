// The function of this folder, which becomes the module zarr.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/arrays/array_module.h"

namespace contorno::zarr {

/// As contorno::open_zarr.
std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers);

}  // namespace contorno::zarr
