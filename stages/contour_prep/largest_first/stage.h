// Largest first: the contours of each class by size, the largest first, and at most `limit` of each class.
//
// Input: contours of any stage.
//
// Output: contours of the same format, whole and unchanged. Contours of equal size keep their order.
//
// Memory: 16 bytes a contour of the planned capacity on the CPU, about 44 on CUDA, and the output.
//
// Both backends give the same bits: the part of each segment is computed without fused multiply-adds and
// rounded to an integer, and a sum of integers is the same in any order.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "cuda/host_device.h"
#include "pipeline/graph/stage.h"

namespace contorno {

/// What the size of a contour is. Area: what it encloses, whichever way round; 0 of an open one.
enum class ContourSize : std::uint8_t { Points, Length, Area };

struct LargestFirstParams {
  ContourSize by = ContourSize::Area;
  int limit = 0;  ///< contours kept of each class; 0 = all
};

/// The part of a contour's size that the segment from `a` to `b` adds: its length in units of 2^-20 px, or
/// twice the area between it and `origin` in units of 2^-20 px^2. `origin` is the contour's first point; by
/// another one parts would be rounded otherwise. Not for ContourSize::Points.
struct SegmentSize {
  ContourSize by = ContourSize::Area;

  CONTORNO_HD std::int64_t operator()(const Point& origin, const Point& a, const Point& b) const {
    if (by == ContourSize::Length) {
      const double rows = static_cast<double>(b.row) - static_cast<double>(a.row);
      const double cols = static_cast<double>(b.col) - static_cast<double>(a.col);
      return in_units(std::sqrt(rows * rows + cols * cols));
    }
    const double a_row = static_cast<double>(a.row) - static_cast<double>(origin.row);
    const double a_col = static_cast<double>(a.col) - static_cast<double>(origin.col);
    const double b_row = static_cast<double>(b.row) - static_cast<double>(origin.row);
    const double b_col = static_cast<double>(b.col) - static_cast<double>(origin.col);
    // Twice the area of the triangle with the origin, by the shoelace formula.
    return in_units(a_col * b_row - b_col * a_row);
  }

 private:
  /// The nearest whole number of units. NaN counts as 0, as does what is 10^12 or more.
  CONTORNO_HD static std::int64_t in_units(double value) {
    constexpr double kUnits = 1 << 20, kMost = 1e12;
    if (!(value > -kMost && value < kMost)) return 0;
    return static_cast<std::int64_t>(value * kUnits + (value < 0 ? -0.5 : 0.5));
  }
};

/// Bits of a size: the length of 2^32 points, and twice the area of the largest map, need 53. What needs more
/// is limited to the greatest number of so many bits.
inline constexpr int kSizeBits = 54;
/// The most classes: class and size are sorted as one key of 64 bits.
inline constexpr int kMostSizedClasses = 1 << (64 - kSizeBits);

/// The number that a contour is sorted by, from the sum over its segments. Partial sums may wrap around as
/// long as the magnitude of the whole is below 2^63.
CONTORNO_HD inline std::uint64_t sort_size(ContourSize by, std::uint64_t sum, std::uint32_t points,
                                           bool closed) {
  constexpr std::uint64_t kMost = (1ULL << kSizeBits) - 1;
  if (by == ContourSize::Points) return points;
  if (by == ContourSize::Area && !closed) return 0;
  const std::uint64_t size = static_cast<std::int64_t>(sum) < 0 ? ~sum + 1 : sum;
  return size < kMost ? size : kMost;
}

/// The format of the input, which is that of the output. Throws Error(BadConfig) when it has too many
/// classes.
const ContoursFormat& checked_contours(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params);

const StageType& largest_first_stage();

}  // namespace contorno
