// How images in host memory differ, byte by byte: for tests that want the same bits from two implementations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <sstream>

#include "pipeline/value/image.h"
#include "tests/comparison.h"

namespace contorno::test {

/// Whether images of these formats have the same samples, wherever on a frame they lie.
inline bool same_samples(const ImageFormat& a, const ImageFormat& b) {
  return a.width == b.width && a.height == b.height && a.channels == b.channels && a.type == b.type &&
         a.layout == b.layout;
}

/// Rows of samples, over all planes, whose bytes differ, whatever lies between rows; all of `a` when it has
/// other samples than `b`.
inline int rows_that_differ(const ImageView& a, const ImageView& b) {
  const int all = a.format.height * a.format.planes();
  if (!same_samples(a.format, b.format)) return all;
  int rows = 0;
  for (int i = 0; i < all; ++i) {
    const int plane = i / a.format.height, y = i % a.format.height;
    rows += std::memcmp(a.row<char>(y, plane), b.row<char>(y, plane), a.format.row_bytes()) != 0 ? 1 : 0;
  }
  return rows;
}

/// The first byte that differs, by its plane, its row and its place in the row.
inline Comparison same_image(const ImageView& a, const ImageView& b) {
  if (!same_samples(a.format, b.format)) return {"they have other sizes, channels or types"};
  const int rows = rows_that_differ(a, b);
  if (rows == 0) return {};
  for (int plane = 0; plane < a.format.planes(); ++plane)
    for (int y = 0; y < a.format.height; ++y)
      for (std::size_t i = 0; i < a.format.row_bytes(); ++i) {
        const auto* const left = a.row<std::uint8_t>(y, plane);
        const auto* const right = b.row<std::uint8_t>(y, plane);
        if (left[i] == right[i]) continue;
        std::ostringstream text;
        text << "plane " << plane << ", row " << y << ", byte " << i << ": " << +left[i] << " and "
             << +right[i] << "; " << rows << " of " << a.format.height * a.format.planes() << " rows differ";
        return {text.str()};
      }
  return {"rows differ"};
}

}  // namespace contorno::test
