// The function of this folder, which becomes the module zarr.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/arrays/array_module.h"

namespace contorno::zarr {

/// Does what contorno::open_zarr does.
std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers);

}  // namespace contorno::zarr
