// The rows of an image for copies to and from memory of a device.
#pragma once

#include "cuda/stream.h"
#include "pipeline/value/image.h"

namespace contorno {

/// The rows of one plane of an image, for copy_rows_async. Owns nothing.
inline MemoryRows rows_of(const ImageView& image, int plane = 0) {
  return {image.row<char>(0, plane), static_cast<std::size_t>(image.row_pitch)};
}

}  // namespace contorno
