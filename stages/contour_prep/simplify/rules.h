// What simplify compares, for both backends: how far points are from a chord, and the areas of triangles. All
// in float64 from float32 points, without fused multiply-adds. Points that are not finite go first: their
// distance and area count as 0, and what lies beside them is measured without
// them.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "cuda/host_device.h"
#include "stages/contour_prep/simplify/stage.h"

namespace contorno {

/// The parameters as they are compared.
struct SimplifyLimits {
  double distance = 0;       ///< squared tolerance, px^2
  double area = 0;           ///< twice the tolerance, px^2
  std::uint32_t points = 0;  ///< at most, where there is a budget

  SimplifyLimits() = default;
  explicit SimplifyLimits(const SimplifyParams& params)
      : distance(params.tolerance * params.tolerance),
        area(2 * params.tolerance),
        points(static_cast<std::uint32_t>(params.points)) {}

  /// How many of `own` points may stay.
  CONTORNO_HD std::uint32_t budget(std::uint32_t own, bool closed) const {
    const std::uint32_t most = points == 0 || points > own ? own : points;
    return most < fewest(closed) ? fewest(closed) : most;
  }
  /// Own points that every contour keeps if it has them.
  CONTORNO_HD static std::uint32_t fewest(bool closed) { return closed ? 3 : 2; }
};

CONTORNO_HD inline bool is_finite(const Point& p) {
  return p.row - p.row == 0 && p.col - p.col == 0;
}

/// The straight segment between two points of a contour, from which distances are measured. They are squared
/// and multiplied by `scale`, which saves a division a point. Where one end is not finite it is the other end
/// alone.
struct Chord {
  double a_row = 0, a_col = 0, b_row = 0, b_col = 0;
  double rows = 0, cols = 0;  ///< from a to b
  double length = 0;          ///< squared
  double scale = 1;

  CONTORNO_HD Chord(const Point& from, const Point& to) {
    const Point& a = is_finite(from) ? from : to;
    const Point& b = is_finite(to) ? to : from;
    a_row = a.row, a_col = a.col, b_row = b.row, b_col = b.col;
    rows = b_row - a_row, cols = b_col - a_col;
    length = rows * rows + cols * cols;
    scale = length > 0 ? length : 1;
  }

  /// The scaled distance of a point; farthest_between.inc has the same for several points at once.
  CONTORNO_HD double operator()(const Point& p) const {
    const double row = static_cast<double>(p.row) - a_row, col = static_cast<double>(p.col) - a_col;
    const double row_b = static_cast<double>(p.row) - b_row, col_b = static_cast<double>(p.col) - b_col;
    // The foot of the perpendicular, as a multiple of the chord's squared length.
    const double along = row * rows + col * cols;
    const double across = row * cols - col * rows;
    const double from_a = (row * row + col * col) * scale;
    const double from_b = (row_b * row_b + col_b * col_b) * scale;
    return along <= 0 ? from_a : along >= length ? from_b : across * across;
  }
};

/// The point that is farthest from a chord, the first one of equal ones, and its scaled distance.
struct Farthest {
  double distance = 0;
  std::uint32_t at = 0;

  CONTORNO_HD Farthest or_farther(const Farthest& other) const {
    return other.distance > distance || (other.distance == distance && other.at < at) ? other : *this;
  }
};

CONTORNO_HD inline std::uint64_t bits_of_double(double value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// By importance the points of a budget are chosen: the bits of the squared tolerance at which a point would
/// go. Points that a contour always keeps have the greatest.
inline constexpr std::uint64_t kMostImportant = ~0ULL;

/// The importance of a point that splits an interval. It is below that of the points which made the interval
/// (`limit`): without them it would not be there.
CONTORNO_HD inline std::uint64_t importance_of(double scaled_distance, double scale, std::uint64_t limit) {
  const std::uint64_t own = bits_of_double(scaled_distance / scale);
  const std::uint64_t below = limit > 0 ? limit - 1 : 0;
  return own < below ? own : below;
}

/// Twice the area of the triangle of point b with its neighbours, px^2. Infinite if a neighbour is not
/// finite, because that one goes first.
CONTORNO_HD inline double twice_area(const Point& a, const Point& b, const Point& c) {
  const double rows = static_cast<double>(b.row) - static_cast<double>(a.row);
  const double cols = static_cast<double>(b.col) - static_cast<double>(a.col);
  const double rows_c = static_cast<double>(c.row) - static_cast<double>(a.row);
  const double cols_c = static_cast<double>(c.col) - static_cast<double>(a.col);
  const double area = rows * cols_c - cols * rows_c;
  if (area > 0) return area;
  if (area <= 0) return 0 - area;  // never -0, because areas are also compared by their bits
  return is_finite(b) ? std::numeric_limits<double>::infinity() : 0;
}

}  // namespace contorno
