// Puts the points of contours of a mipmap level back on the maps that the level was made of. A sample of the
// level covers `scale` samples of the map, so that its centre x lies at (x + 0.5) * scale - 0.5. Where the
// level ends the map ends: points on the outermost samples of the level, at which open contours end, come to
// lie on those of the map, up to half a sample of the level further out. So a contour that ends at the border
// still does.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// Along one axis. Both sides have at least 2 samples.
struct PointPlacement {
  double scale = 1;              ///< samples of the map for one of the level
  float last = 0, map_last = 0;  ///< the centres of the last samples
  CONTORNO_HD float operator()(float at) const {
    if (at <= 0) return 0;
    if (at >= last) return map_last;
    return static_cast<float>((static_cast<double>(at) + 0.5) * scale - 0.5);
  }
};

struct PointsPlacement {
  PointPlacement rows, cols;
  CONTORNO_HD Point operator()(const Point& point) const { return {rows(point.row), cols(point.col)}; }
};

inline PointPlacement point_placement(int side, int map_side) {
  return {.scale = static_cast<double>(map_side) / side,
          .last = static_cast<float>(side - 1),
          .map_last = static_cast<float>(map_side - 1)};
}

/// Places all points of contours in memory of the device, where they fit. Only in builds that have CUDA.
void place_points_on_device(const ContoursView& contours, const PointsPlacement& placement, void* stream);

}  // namespace contorno
