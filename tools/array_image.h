// Arrays from files that the command line names, as images of one channel.
#pragma once

#include <string>

#include "plugins/files/arrays/npy.h"

namespace contorno {

/// A view of the array's memory as an image of one channel. The array is H x W, also with sides of length 1
/// in front. `name` is for messages. Throws Error(BadData) for other shapes.
ImageView image_of(NpyArray& array, const std::string& name);

/// A mask for find_contours: an array of bool in a .npy or .npz file. Throws Error(MissingInput, BadData).
NpyArray read_mask(const std::string& path);

}  // namespace contorno
