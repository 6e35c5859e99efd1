// The convex hull of a contour's points on the CPU, by Andrew's algorithm. Points are sorted by bins of
// columns, in time that grows with their number: sorting by comparisons took most of the time of long
// contours.
#pragma once

#include <cstdint>

#include "geometry/measures.h"

namespace contorno::measuring {

/// Room to find the hull of n points in; contents do not matter.
struct HullRoom {
  GridPoint* sorted = nullptr;    ///< n; on a device all that is needed
  GridPoint* hull = nullptr;      ///< n + 1
  std::uint32_t* bins = nullptr;  ///< n + 1
  /// On a device: how often points are looked at, corners times points, before the hull is given up.
  std::uint64_t most_looks = ~std::uint64_t{0};
};

/// In place of the area of a hull that was given up.
inline constexpr double kHullRefused = -1;

/// The area of the convex hull in px^2, NaN if a point is not on the grid. There is at least one point. On a
/// device teams call that of hull.cuh.
double hull_area(const OneThread& team, const Point* points, std::uint32_t count, const HullRoom& room);

}  // namespace contorno::measuring
