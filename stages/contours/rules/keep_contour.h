// How many points a contour has, and whether it has enough, for both backends. Pure functions.
#pragma once

#include "base/host_device.h"

namespace contorno {

/// A contour of n segments, closed or open, has n + 1 points: a closed one has its first point again as its
/// last.
template <class Count>
CONTORNO_HD constexpr Count points_of(Count segments) {
  return segments + 1;
}
template <class Count>
CONTORNO_HD constexpr bool keep_contour(Count segments, Count min_points) {
  return points_of(segments) >= min_points;
}

}  // namespace contorno
