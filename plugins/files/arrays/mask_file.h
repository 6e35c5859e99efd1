// Masks of structuring elements from files: .npy and .npz arrays of two dimensions and every image format
// that the program decodes. What the programs hand to set_element_mask_reader.
#pragma once

#include <string>

#include "plugins/files/pictures/decoder.h"
#include "stages/morphology/structuring_element.h"

namespace contorno {

/// Values as they are in an array; the luma, 0 to 255, of an image. Throws Error(MissingInput, BadData, Io);
/// `decoder` may be empty, then only arrays are read.
ElementMask read_mask_file(const std::string& path, const FrameDecoder& decoder);

}  // namespace contorno
