// The points of a contour without the repeated one: the last point of a closed contour, which is its first
// again, is no point of its own.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "pipeline/value/contours.h"

namespace contorno {

/// The own points of a contour with `points` stored ones.
CONTORNO_HD inline std::uint32_t own_points(std::uint32_t points, bool closed) {
  return closed && points > 1 ? points - 1 : points;
}
/// Whether a contour with `points` stored points, of which `kept` own ones remain, is closed then, and how
/// many points are stored for it: `kept`, or one more, which is the first again.
CONTORNO_HD inline bool stays_closed(std::uint32_t points, bool closed, std::uint32_t kept) {
  return closed && (kept >= 3 || kept == own_points(points, closed));
}
CONTORNO_HD inline std::uint32_t stored_points(std::uint32_t points, bool closed, std::uint32_t kept) {
  if (kept == own_points(points, closed)) return points;
  return kept + (stays_closed(points, closed, kept) ? 1U : 0U);
}

/// Which stored point becomes point `k` of a contour with `points` stored ones that is drawn from own point
/// `start` on: a closed one round to where it began, an open one, from one of its ends, to the other one.
CONTORNO_HD inline std::uint32_t drawn_point(std::uint32_t points, bool closed, std::uint32_t start,
                                             std::uint32_t k) {
  if (!closed) return start > 0 ? start - k : k;
  const std::uint32_t own = own_points(points, closed), left = own - start;
  return start == 0 ? k : k < left ? start + k : k - left;
}

/// The own points of one contour, `begin` to `end` - 1 of its frame. Owns nothing.
struct OwnPoints {
  const Point* points = nullptr;  ///< `count`, from the first one on; then the repeated one, if it is closed
  std::uint32_t begin = 0, end = 0, count = 0;
  bool closed = false;

  CONTORNO_HD OwnPoints(const ContoursView& in, std::uint32_t contour)
      : points(in.points + in.offsets[contour]), begin(in.offsets[contour]), closed(in.closed[contour] != 0) {
    count = own_points(in.offsets[contour + 1] - begin, closed);
    end = begin + count;
  }
};

}  // namespace contorno
