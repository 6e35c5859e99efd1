// The function of this folder, which becomes the module mat.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/arrays/array_module.h"

namespace contorno::mat {

/// Does what contorno::open_mat does, for files of MATLAB up to version 7.
std::unique_ptr<ModuleArray> open_array(const std::string& path, const std::string& member, Numbers numbers);

}  // namespace contorno::mat
