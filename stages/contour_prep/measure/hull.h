// The convex hull of a contour's points on the CPU, by Andrew's algorithm. Points are sorted by bins of
// columns, in time that grows with their number: sorting by comparisons took most of the time of long
// contours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "stages/contour_prep/measure/rules.h"

namespace contorno::measuring {

/// Room to find the hull of n points in; contents do not matter.
struct HullRoom {
  GridPoint* sorted;    ///< n
  GridPoint* hull;      ///< n + 1
  std::uint32_t* bins;  ///< n + 1
};

/// The area of the convex hull in px^2, NaN if a point is not on the grid. There is at least one point.
double hull_area(std::span<const Point> points, const HullRoom& room);

}  // namespace contorno::measuring
