// How many points resample gives a contour and where they lie, for both backends. Lengths are in the units of
// segment_length.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "stages/contour_prep/resample/stage.h"
#include "stages/contour_prep/shared/contour_size.h"

namespace contorno {

/// How many steps of equal length a contour is divided into.
struct ResampleSteps {
  double spacing = 0;        ///< units
  std::uint32_t points = 0;  ///< own points; 0: by the spacing

  ResampleSteps() = default;
  explicit ResampleSteps(const ResampleParams& params)
      : spacing(params.spacing * kSizeUnits), points(static_cast<std::uint32_t>(params.points)) {}

  /// The number of points that are stored, of a contour that has `stored` now: one more than steps.
  CONTORNO_HD std::uint64_t stored_points(std::uint64_t length, std::uint32_t stored, bool closed) const {
    if (stored == 0) return 0;
    // A closed contour has three points and the repeated one; an open one keeps its ends, or its only point.
    const std::uint64_t fewest = closed ? 4 : points > 0 || stored > 1 ? 2 : 1;
    const std::uint64_t wanted =
        points > 0 ? (closed ? points + 1ULL : points) : steps_by_spacing(length) + 1;
    return wanted < fewest ? fewest : wanted;
  }

 private:
  CONTORNO_HD std::uint64_t steps_by_spacing(std::uint64_t length) const {
    constexpr double kMost = 4294967296.0;  // more points than a frame may have
    const double steps = static_cast<double>(length) / spacing + 0.5;
    return static_cast<std::uint64_t>(steps < kMost ? steps : kMost);
  }
};

/// A distance from the begin of a contour: whole units, and the part of a unit that is left.
struct ContourPlace {
  std::uint64_t whole = 0;
  double part = 0;
};

/// The place of point `k` of `steps` + 1. Computed without rounding: `whole` is k * length / steps.
CONTORNO_HD inline ContourPlace place_of(std::uint64_t length, std::uint32_t k, std::uint32_t steps) {
  const std::uint64_t more = k * (length % steps);
  return {k * (length / steps) + more / steps,
          static_cast<double>(more % steps) / static_cast<double>(steps)};
}

/// The point at `place` on the segment from a to b, which lies between these distances.
CONTORNO_HD inline Point point_on(const Point& a, const Point& b, std::uint64_t begin, std::uint64_t end,
                                  const ContourPlace& place) {
  const double along =
      (static_cast<double>(place.whole - begin) + place.part) / static_cast<double>(end - begin);
  const double row = a.row, col = a.col;
  return {static_cast<float>(row + along * (static_cast<double>(b.row) - row)),
          static_cast<float>(col + along * (static_cast<double>(b.col) - col))};
}

}  // namespace contorno
