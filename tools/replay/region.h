// The pixels that the contours of a class go around, as a mask, and the pixels at the edge of a mask.
#pragma once

#include <cstdint>
#include <vector>

#include "pipeline/value/contours.h"
#include "pipeline/value/orientation.h"

namespace contorno {

/// Pixels of an image that belong to something, row by row: 1, else 0.
struct PixelRegion {
  int width = 0, height = 0;
  std::vector<std::uint8_t> in;

  std::size_t index(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
  }
};

/// The pixels of an image of width x height, which covers the same as the map, whose centres lie in what
/// class `k` is high in: closed contours wind around it, counted with their direction, so that holes are
/// left out; where the outermost contours are holes, all around them is high. Contours that end on the border
/// of the map have been closed along it. Other open ones go around nothing, and neither does a map without
/// contours. Of several levels the lowest one counts.
PixelRegion region_of_class(const ContoursView& contours, std::size_t k, Orientation orientation, int width,
                            int height);

/// Pixels of the region that have a neighbour, left, right, above or below, that is none of it or outside of
/// the image.
PixelRegion edge_of(const PixelRegion& region);

/// For each pixel the square of the Euclidean distance to the nearest pixel of `region`, which has at least
/// one. Exact.
/// Source: A. Meijster, J. Roerdink and W. Hesselink, "A general algorithm for computing distance transforms
/// in linear time", 2000.
std::vector<std::int64_t> squared_distances(const PixelRegion& region);

}  // namespace contorno
