// Simplify: keeps the points of each contour that matter for its shape, by Douglas-Peucker or by
// Visvalingam-Whyatt.
//
// Input: contours of any stage.
//
// Output: the same contours with some of their points (select_points). An open contour keeps both
// ends, a closed one stays closed: at least 3 of its own points are kept if it has as many.
//
// Memory: 3 bytes a point of the planned capacity on the CPU and the output; 16 bytes a point more with a
// budget of points, 26 more for Visvalingam-Whyatt. On CUDA 18 bytes a point, 8 more with a budget, or 22 for
// Visvalingam-Whyatt; 12 a contour; and the output.
//
// Equal bits because every decision compares numbers that are computed in the same way from the same points
// below, and equal numbers are told apart by the order of the points.
//
// Sources: D. Douglas and T. Peucker, "Algorithms for the reduction of the number of points required to
// represent a digitized line or its caricature", 1973; M. Visvalingam and J. Whyatt, "Line generalisation by
// repeated elimination of points", 1993.
#pragma once

#include <cstdint>
#include <limits>

#include "geometry/points.h"
#include "pipeline/graph/stage.h"

namespace contorno {

enum class SimplifyMethod : std::uint8_t { DouglasPeucker, Visvalingam };

struct SimplifyParams {
  SimplifyMethod method = SimplifyMethod::DouglasPeucker;
  double tolerance = 1;  ///< px; px^2 for Visvalingam
  int points = 0;        ///< own points kept of each contour at most; 0 = any number
};

// What simplify compares, for both backends: how far points are from a chord, and the areas of triangles. All
// in float64 from float32 points, without fused multiply-adds. Points that are not finite go first: their
// distance and area count as 0, and what lies beside them is measured without them.

/// The parameters as they are compared.
struct SimplifyLimits {
  double distance = 0;       ///< squared tolerance, px^2
  double area = 0;           ///< twice the tolerance, px^2
  std::uint32_t points = 0;  ///< the budget: own points that may stay; 0: there is none

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

/// Whether a point may go: the ends of an open contour, of which it has `own` points, may not.
CONTORNO_HD inline bool may_go(std::uint32_t at, std::uint32_t own, bool closed) {
  return closed || (at > 0 && at < own - 1);
}

/// The straight segment between two points of a contour, from which distances are measured. They are squared
/// and multiplied by `scale`, which saves a division a point. Where one end is not finite it is the other end
/// alone.
struct Chord : Segment {
  double scale = 1;

  CONTORNO_HD Chord(const Point& from, const Point& to)
      : Segment(is_finite(from) ? from : to, is_finite(to) ? to : from), scale(length > 0 ? length : 1) {}

  /// The scaled distance of a point; farthest_avx2.cpp has the same for several points at once.
  CONTORNO_HD double operator()(const Point& p) const {
    const Distance distance = Segment::operator()(p);
    return distance.is_beside ? distance.squared : distance.squared * scale;
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

/// The farthest of every `step`-th point between `begin` and `end` from `from` on; where none is at a
/// distance above 0, begin + 1.
CONTORNO_HD inline Farthest farthest_of(const Point* points, std::uint32_t begin, std::uint32_t end,
                                        const Chord& chord, std::uint32_t from, std::uint32_t step) {
  Farthest found{0, begin + 1};
  for (std::uint32_t i = from; i < end; i += step)
    if (const double distance = chord(points[i]); distance > found.distance) found = {distance, i};
  return found;
}

/// The importance of points that a contour always keeps. Importance decides which points a budget keeps: it
/// is the bits of the squared tolerance from which on a point would be left out.
inline constexpr std::uint64_t kMostImportant = ~0ULL;

/// The importance of a point that splits an interval. It is below that of the points which made the interval
/// (`limit`): without them it would not be there.
CONTORNO_HD inline std::uint64_t importance_of(double scaled_distance, double scale, std::uint64_t limit) {
  const std::uint64_t own = bits_of(scaled_distance / scale);
  const std::uint64_t below = limit > 0 ? limit - 1 : 0;
  return own < below ? own : below;
}

/// The points between `begin` and `end`, which are kept.
struct Interval {
  std::uint32_t begin = 0, end = 0;
  std::uint64_t importance = kMostImportant;  ///< the least of those of its ends

  CONTORNO_HD bool is_empty() const { return end - begin < 2; }
};

/// The halves of a closed contour between its anchors, which are its first point and the farthest from it. Of
/// the points between them the farthest is kept whatever the tolerance. The chords of both halves have the
/// same length, so that their distances can be compared.
struct ClosedHalves {
  std::uint64_t importance = 0;  ///< of the second anchor
  Interval there, back;
  bool is_back = false;  ///< whether the point that is kept lies on the way back

  CONTORNO_HD ClosedHalves(std::uint32_t own, const Farthest& anchor)
      : importance(importance_of(anchor.distance, 1, kMostImportant)),
        there{0, anchor.at, importance},
        back{anchor.at, own, importance} {}
  CONTORNO_HD void compare(const Farthest& of_there, const Farthest& of_back) {
    is_back = there.is_empty() || (!back.is_empty() && of_back.distance > of_there.distance);
  }
};

/// Where the neighbours of point i of `own` points in a ring are.
CONTORNO_HD inline std::uint32_t ring_before(std::uint32_t i, std::uint32_t own) {
  return i > 0 ? i - 1 : own - 1;
}
CONTORNO_HD inline std::uint32_t ring_after(std::uint32_t i, std::uint32_t own) {
  return i < own - 1 ? i + 1 : 0;
}

/// The bits of twice the area of the triangle of point b with its neighbours, px^2. Infinite if a neighbour
/// is not finite, because that one goes first.
CONTORNO_HD inline std::uint64_t area_bits(const Point& a, const Point& b, const Point& c) {
  const double area = twice_signed_area(a, b, c);
  if (area > 0) return bits_of(area);
  if (area <= 0) return bits_of(0 - area);  // never -0, whose bits are others
  return bits_of(is_finite(b) ? std::numeric_limits<double>::infinity() : 0);
}

const StageType& simplify_stage();

}  // namespace contorno
