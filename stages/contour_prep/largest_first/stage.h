// Largest first: the contours of each class in the order of their size, the largest first, and at most so
// many of them.
//
// Input: contours of any stage.
//
// Output: contours of the same format, whole and unchanged. Contours of one size keep their order.
//
// Memory: 16 bytes a contour on the CPU, about 40 on CUDA, and the planned capacities of the output.
//
// Both backends give the same bits: a size is a sum of integers, one for each segment, so that any order of
// summation gives the same.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// What the size of a contour is. Area: what it encloses, whichever way round; 0 of an open one.
enum class ContourSize : std::uint8_t { Points, Length, Area };

struct LargestFirstParams {
  ContourSize by = ContourSize::Area;
  int limit = 0;  ///< a class; 0 = all
};

/// The part of a contour's size that the segment from `a` to `b` adds, in units of 2^-20 px or px^2. `origin`
/// is any point near the contour, the same for all its segments.
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
  /// The nearest whole number of units. What is no number, or as large as no image is, counts as 0.
  CONTORNO_HD static std::int64_t in_units(double value) {
    constexpr double kUnits = 1 << 20, kMost = 1e12;
    if (!(value > -kMost && value < kMost)) return 0;
    return static_cast<std::int64_t>(value * kUnits + (value < 0 ? -0.5 : 0.5));
  }
};

/// Bits of a size: enough for every contour of the largest map. What needs more counts as the largest.
inline constexpr int kSizeBits = 54;
/// Classes that have room beside them in a word.
inline constexpr int kMostSizedClasses = 1 << (64 - kSizeBits);

/// A contour's size from the sum over its segments, as a number that grows with the size. Sums may wrap
/// around as long as the total is below 2^63.
CONTORNO_HD inline std::uint64_t contour_size(ContourSize by, std::uint64_t sum, std::uint32_t points,
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
