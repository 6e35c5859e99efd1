// Arrays of the command line as images of one channel.
#pragma once

#include <string>

#include "plugins/files/arrays/npy.h"

namespace contorno {

/// The array as an image of one channel, in its memory: H x W, also with sides of length 1 in front. `name`
/// is for messages. Throws Error(BadData).
ImageView image_of(NpyArray& array, const std::string& name);

/// A mask for find_contours: an array of bool in a .npy or .npz file. Throws Error(MissingInput, BadData).
NpyArray read_mask(const std::string& path);

}  // namespace contorno
