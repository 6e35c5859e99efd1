// How images in host memory differ, byte by byte: for tests that want the same bits from two implementations.
#pragma once

#include <cstring>

#include "pipeline/value/image.h"

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

}  // namespace contorno::test
