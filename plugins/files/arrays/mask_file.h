// Masks of structuring elements from files: .npy and .npz arrays of two dimensions and every image format
// that the program decodes. How the programs read masks (Catalog::read_mask).
#pragma once

#include <string>

#include "pipeline/value/mask.h"
#include "plugins/files/pictures/decoder.h"

namespace contorno {

/// The values of an array as they are; of an image the luma, 0 to 255. Throws Error(MissingInput, BadData,
/// Io) for arrays, and Error(BadData) for whatever is wrong with an image. `decoder` may be empty, then only
/// arrays are read.
SharedMask read_mask_file(const std::string& path, const FrameDecoder& decoder);

}  // namespace contorno
