// The rows of an image for copies to and from memory of a device.
#pragma once

#include "cuda/stream.h"
#include "pipeline/value/image.h"

namespace contorno {

/// Those of a plane, and of all planes behind it where planes follow each other without a gap.
inline MemoryRows rows_of(const ImageView& image, int plane = 0) {
  return {image.row<char>(0, plane), static_cast<std::size_t>(image.row_pitch)};
}

}  // namespace contorno
