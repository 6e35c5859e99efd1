// The checksum by which images are compared with those of another run.
#pragma once

#include <cstdint>

#include "pipeline/value/image.h"

namespace contorno {

/// CRC-32 (that of PNG and gzip) of all samples, row by row, plane by plane; what lies between rows in memory
/// has no part in it. `before` is that of the images before this one.
std::uint32_t checksum(const ImageView& image, std::uint32_t before = 0);

}  // namespace contorno
