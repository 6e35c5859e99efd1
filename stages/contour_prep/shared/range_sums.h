// Prefix sums on the device without a kernel of their own. An array is cut into ranges of equal length. The
// kernel that makes the words writes each as the sum of those before it in its range, and the range's total;
// the kernel that reads them adds the totals of the ranges before. How many words there are is known to the
// device alone, so all that there is room for are written: what is not used is 0. The functions of kernels
// are in range_sums.cuh.
#pragma once

#include <cstddef>

#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/prefix_sum.h"

namespace contorno {

/// At most so many, so that a block adds up their totals in shared memory.
inline constexpr unsigned kMostRanges = 1024;

/// What kernels see. Range r has words r << shift to (r + 1 << shift) - 1. All sums are modulo 2^64.
struct RangeSumsView {
  unsigned long long* words = nullptr;
  unsigned long long* totals = nullptr;  ///< a range
  unsigned count = 0;                    ///< words
  int shift = 0;
};

class RangeSums {
 public:
  /// Asks for scratch, as part of the stage's plan, for `count` words, 1 or more. Throws what library_count
  /// throws.
  void plan(PlanContext& context, std::size_t count) {
    count_ = static_cast<unsigned>(library_count(count)), shift_ = kLeastRange;
    while ((count_ - 1) >> shift_ >= kMostRanges) ++shift_;
    words_ = context.temporary(count * sizeof(unsigned long long), MemoryKind::Device);
    totals_ = context.temporary(kMostRanges * sizeof(unsigned long long), MemoryKind::Device);
  }
  RangeSumsView view(const RunContext& context) const {
    return {.words = context.scratch<unsigned long long>(words_),
            .totals = context.scratch<unsigned long long>(totals_),
            .count = count_,
            .shift = shift_};
  }

 private:
  static constexpr int kLeastRange = 8;  // a word for each thread of a block

  unsigned count_ = 1;
  int shift_ = 0;
  Scratch words_, totals_;
};

}  // namespace contorno
