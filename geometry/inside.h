// When a place is inside of a closed contour: by the even-odd rule, for host and device.
#pragma once

#include <span>

#include "base/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// A place on the map in px.
struct Place {
  double row = 0, col = 0;
};

/// The column at which the segment from `a` to `b` crosses a row between them.
CONTORNO_HD inline double crossing_column(double row, const Point& a, const Point& b) {
  const double a_row = a.row, b_row = b.row;
  return a.col + (static_cast<double>(b.col) - a.col) * ((row - a_row) / (b_row - a_row));
}

/// Whether the ray from `place` towards smaller columns crosses the segment from `a` to `b`. The place is
/// inside of a contour if it crosses an odd number of its segments, the closing one among them. Nothing
/// crosses a segment with a NaN.
CONTORNO_HD inline bool crosses(const Place& place, const Point& a, const Point& b) {
  const double a_row = a.row, b_row = b.row;
  if ((a_row > place.row) == (b_row > place.row)) return false;
  return place.col > crossing_column(place.row, a, b);
}

/// `contour` repeats its first point as the last.
inline bool is_inside(const Place& place, std::span<const Point> contour) {
  bool inside = false;
  for (std::size_t i = 1; i < contour.size(); ++i)
    if (crosses(place, contour[i - 1], contour[i])) inside = !inside;
  return inside;
}

}  // namespace contorno
