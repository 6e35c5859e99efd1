#include "tools/checksum.h"

#include <zlib.h>

namespace contorno {

std::uint32_t checksum(const ImageView& image, std::uint32_t before) {
  const std::size_t row = image.format.row_bytes();
  uLong sum = before;
  for (int plane = 0; plane < image.format.planes(); ++plane)
    for (int y = 0; y < image.format.height; ++y)
      sum = crc32(sum, image.row<Bytef>(y, plane), static_cast<uInt>(row));
  return static_cast<std::uint32_t>(sum);
}

}  // namespace contorno
