// The function of this folder, which becomes the module hdf5.
#pragma once

#include <memory>
#include <string>

#include "plugins/files/arrays/hdf5.h"

namespace contorno::hdf5 {

/// As contorno::open_hdf5.
std::unique_ptr<Hdf5Array> open_array(const std::string& path, const std::string& member);

}  // namespace contorno::hdf5
