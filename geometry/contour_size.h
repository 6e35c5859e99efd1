// The size of a contour by points, length or area, as an integer: the part of each segment is computed
// without fused multiply-adds and rounded to an integer, and a sum of integers is the same in any order. So
// both backends and any number of threads give the same bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "geometry/points.h"
#include "geometry/team.h"

namespace contorno {

/// What the size of a contour is. Area: what it encloses, whichever way round; 0 of an open one.
enum class ContourSize : std::uint8_t { Points, Length, Area };

/// Units of a length of 1 px, and of twice an area of 1 px^2.
inline constexpr double kSizeUnits = 1 << 20;

/// The nearest whole number of units. NaN counts as 0, as does what is 10^12 or more.
CONTORNO_HD inline std::int64_t in_size_units(double value) {
  constexpr double kMost = 1e12;
  if (!(value > -kMost && value < kMost)) return 0;
  return static_cast<std::int64_t>(value * kSizeUnits + (value < 0 ? -0.5 : 0.5));
}

/// The length of the segment from `a` to `b`, in units.
CONTORNO_HD inline std::int64_t segment_length(const Point& a, const Point& b) {
  return in_size_units(std::sqrt(squared_distance(a, b)));
}
/// Twice the area between the segment from `a` to `b` and a contour's first point, in units, with a sign (the
/// shoelace formula). By another point parts would be rounded otherwise.
CONTORNO_HD inline std::int64_t twice_triangle_area(const Point& first, const Point& a, const Point& b) {
  return in_size_units(twice_signed_area(first, a, b));
}
/// What the segment adds to the size of its contour; not by points.
CONTORNO_HD inline std::int64_t segment_size(ContourSize by, const Point& first, const Point& a,
                                             const Point& b) {
  return by == ContourSize::Length ? segment_length(a, b) : twice_triangle_area(first, a, b);
}

/// Bits of a size: the length of 2^32 points, and twice the area of the largest map, need 53. What needs more
/// is limited to the greatest number of so many bits.
inline constexpr int kSizeBits = 54;

/// The size in units, from the sum over the contour's segments; by points, their number. Partial sums may
/// wrap around as long as the magnitude of the whole is below 2^63.
CONTORNO_HD inline std::uint64_t size_in_units(ContourSize by, std::uint64_t sum, std::uint32_t points,
                                               bool closed) {
  constexpr std::uint64_t kMost = (1ULL << kSizeBits) - 1;
  if (by == ContourSize::Points) return points;
  if (by == ContourSize::Area && !closed) return 0;
  const std::uint64_t size = static_cast<std::int64_t>(sum) < 0 ? ~sum + 1 : sum;
  return size < kMost ? size : kMost;
}

/// The size of contour `contour` in units.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD std::uint64_t size_in_units(const Team& team, ContourSize by, const ContoursView& contours,
                                        std::uint32_t contour) {
  const Point* const points = contours.points + contours.offsets[contour];
  const std::uint32_t count = contours.offsets[contour + 1] - contours.offsets[contour];
  WholeSum sum;
  if (by != ContourSize::Points && count > 1)
    sum = team.template join<WholeSum>(count - 1, [=](WholeSum& all, std::uint64_t i) {
      all.value += static_cast<std::uint64_t>(segment_size(by, points[0], points[i], points[i + 1]));
    });
  return size_in_units(by, sum.value, count, contours.closed[contour] != 0);
}

/// The area that a contour encloses, in units and with its sign; 0 of an open one.
CONTORNO_FOR_TEAMS
template <class Team>
CONTORNO_HD std::int64_t signed_area_in_units(const Team& team, const ContoursView& contours,
                                              std::uint32_t contour) {
  const Point* const points = contours.points + contours.offsets[contour];
  const std::uint32_t count = contours.offsets[contour + 1] - contours.offsets[contour];
  WholeSum sum;
  if (count > 1)
    sum = team.template join<WholeSum>(count - 1, [=](WholeSum& all, std::uint64_t i) {
      all.value += static_cast<std::uint64_t>(twice_triangle_area(points[0], points[i], points[i + 1]));
    });
  return contours.closed[contour] != 0 ? static_cast<std::int64_t>(sum.value) : 0;
}

}  // namespace contorno
