// Resample: points at equal distances along each contour, instead of those that it had.
//
// Input: contours of any stage.
//
// Output: as many contours, each from the first to the last point of the contour as it was. How many points
// there are is known when they have been counted: what does not fit is run again with more room
// (Stage::overflow), never truncated.
//
// Memory: 8 bytes a point of the planned capacity of the input and 8 a contour on the CPU; 8 bytes a point
// and 8 a contour on CUDA, and what CUB needs; and the output.
//
// Equal bits because lengths are added as integers (geometry/contour_size.h), and where a point lies is told
// from them without rounding; only the last step, between two points, is computed in float64.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/per_contour.h"

namespace contorno {

struct ResampleParams {
  double spacing = 1;  ///< px
  int points = 0;      ///< of each contour, in place of a spacing
};

// How many points resample gives a contour and where they lie, for both backends. Lengths are in the units of
// segment_length.

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

/// The places of `steps` + 1 points along a contour.
class EqualSteps {
 public:
  CONTORNO_HD EqualSteps(std::uint64_t length, std::uint32_t steps)
      : steps_(steps > 0 ? steps : 1), each_(length / steps_), rest_(length % steps_) {}

  /// The place of point `k`. Computed without rounding: `whole` is k * length / steps.
  CONTORNO_HD ContourPlace operator[](std::uint64_t k) const {
    const std::uint64_t more = k * rest_;
    return {k * each_ + more / steps_, static_cast<double>(more % steps_) / static_cast<double>(steps_)};
  }

 private:
  std::uint64_t steps_, each_, rest_;
};

/// The point at `place` on the segment from a to b, which lies between these distances.
CONTORNO_HD inline Point point_on(const Point& a, const Point& b, std::uint64_t begin, std::uint64_t end,
                                  const ContourPlace& place) {
  const double along =
      (static_cast<double>(place.whole - begin) + place.part) / static_cast<double>(end - begin);
  const double row = a.row, col = a.col;
  return {static_cast<float>(row + along * (static_cast<double>(b.row) - row)),
          static_cast<float>(col + along * (static_cast<double>(b.col) - col))};
}

struct Resample {
  using Params = ResampleParams;
  static constexpr const char* kName = "resample";
  static constexpr Gives kGives = Gives::Points;
  static constexpr ContourTeams kTeams = kLargeBlocks;

  explicit Resample(const ResampleParams& given) : params(given), steps(given) {}

  void arrays(ArrayTaker& take, const ContoursFormat& format) { take(lengths, format.point_capacity); }
  /// The format of the output: as many contours, and room for as many points as there may well be, or as an
  /// earlier frame had.
  ContoursFormat output(const PlanContext& context, ContoursFormat in) const;

  /// Writes how far each point is along its contour, too.
  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD std::uint64_t count(const Team& team, const ContoursView& in, std::uint32_t contour) const {
    const std::uint32_t begin = in.offsets[contour], stored = in.offsets[contour + 1] - begin;
    const Point* const points = in.points + begin;
    std::uint64_t* const before = lengths + begin;
    const std::uint64_t length = team.scan(
        stored,
        [=](std::uint64_t i) {
          return i + 1 < stored ? static_cast<std::uint64_t>(segment_length(points[i], points[i + 1])) : 0;
        },
        [=](std::uint64_t i, std::uint64_t length_before) { before[i] = length_before; });
    return steps.stored_points(length, stored, in.closed[contour] != 0);
  }
  CONTORNO_FOR_TEAMS
  template <class Team>
  CONTORNO_HD void write(const Team& team, const ContoursView& in, std::uint32_t contour, Point* to,
                         std::uint32_t points) const {
    const std::uint32_t begin = in.offsets[contour], last = in.offsets[contour + 1] - begin - 1;
    const Point* const from = in.points + begin;
    const std::uint64_t* const before = lengths + begin;
    if (points == 0) return;
    const std::uint64_t length = before[last];
    const std::uint32_t parts = points - 1;
    const EqualSteps places(length, parts);
    std::uint32_t low = 0;  // a thread's points ascend, and so do their segments
    team.each(points, [=, &low](std::uint64_t k) {
      if (k == parts && k > 0) {
        to[k] = from[last];
      } else if (k == 0 || length == 0) {
        to[k] = from[0];
      } else {
        const ContourPlace place = places[k];
        low = segment_at(before, last, low, place.whole);
        to[k] = point_on(from[low], from[low + 1], before[low], before[low + 1], place);
      }
    });
  }

  ResampleParams params;
  ResampleSteps steps;
  std::uint64_t* lengths = nullptr;  ///< length of the contour before each point (segment_length)

 private:
  /// The last segment that begins at `place` or before it, from segment `low` on, which does. There is a
  /// segment for each of the first `last` points.
  CONTORNO_HD static std::uint32_t segment_at(const std::uint64_t* before, std::uint32_t last,
                                              std::uint32_t low, std::uint64_t place) {
    std::uint32_t step = 1;
    for (; step < last - low && before[low + step] <= place; step *= 2) low += step;
    std::uint32_t high = step < last - low ? low + step : last;
    while (high - low > 1) {
      const std::uint32_t middle = low + (high - low) / 2;
      (before[middle] <= place ? low : high) = middle;
    }
    return low;
  }
};

const StageType& resample_stage();

}  // namespace contorno
