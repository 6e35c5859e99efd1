// The functions of kernels that place contours (placement.h), called by all threads of a grid.
#pragma once

#include "cuda/threads.cuh"
#include "stages/contour_prep/shared/placement.h"

namespace contorno {

// The functions of kernels that write and read sums in two levels (RangeSums).

/// What a block shares for them.
struct RangeShared {
  unsigned long long before[kMostRanges];  ///< the sum of all ranges before each one
  unsigned long long warps[kArrayThreads / kWarpLanes];
};

/// The other sum_before_thread and a barrier behind it, so that it can be called again at once.
__device__ inline unsigned long long sum_before_thread(unsigned long long value, RangeShared& shared,
                                                       unsigned long long& all) {
  const unsigned long long before = sum_before_thread(value, shared.warps, all);
  __syncthreads();
  return before;
}

/// Writes the sums of word_of(word), by all threads of a grid.
template <class WordOf>
__device__ inline void write_sums(const RangeSumsView& sums, RangeShared& shared, const WordOf& word_of) {
  for (unsigned range = blockIdx.x; range <= (sums.count - 1) >> sums.shift; range += gridDim.x) {
    const unsigned begin = range << sums.shift, end = min(begin + (1U << sums.shift), sums.count);
    unsigned long long before_round = 0;
    for (unsigned base = begin; base < end; base += blockDim.x) {
      const unsigned word = base + threadIdx.x;
      unsigned long long all = 0;
      const unsigned long long before = sum_before_thread(word < end ? word_of(word) : 0ULL, shared, all);
      if (word < end) sums.words[word] = before_round + before;
      before_round += all;
    }
    if (threadIdx.x == 0) sums.totals[range] = before_round;
  }
}

/// The sum of all words before each one, in a kernel behind the one that wrote them.
class SumsBefore {
 public:
  /// Called by all threads of a block.
  __device__ SumsBefore(const RangeSumsView& sums, RangeShared& shared)
      : words_(sums.words), shift_(sums.shift) {
    const unsigned ranges = ((sums.count - 1) >> sums.shift) + 1;
    if (ranges == 1) return;  // of a small frame, where each load counts
    before_ = shared.before;
    unsigned long long before_round = 0;
    for (unsigned base = 0; base < ranges; base += blockDim.x) {
      const unsigned range = base + threadIdx.x;
      unsigned long long all = 0;
      const unsigned long long before =
          sum_before_thread(range < ranges ? sums.totals[range] : 0ULL, shared, all);
      if (range < ranges) shared.before[range] = before_round + before;
      before_round += all;
    }
    __syncthreads();
  }
  __device__ unsigned long long operator[](unsigned word) const {
    return words_[word] + (before_ != nullptr ? before_[word >> shift_] : 0ULL);
  }

 private:
  const unsigned long long* words_;
  const unsigned long long* before_ = nullptr;  ///< RangeShared::before; null: there is one range
  int shift_;
};

// The functions of kernels that place contours (placement.h), called by all threads of a grid.

/// Writes the sums of the words: word_of(i) is that of the contour at place i of the order.
template <class WordOf>
__device__ __forceinline__ void measure_contours(const PlacementView& placement, const WordOf& word_of) {
  const unsigned contours = contours_of(placement.in);
  write_sums(placement.sums, block_shared<RangeShared>(),
             [&](unsigned i) { return i < contours ? word_of(i) : 0ULL; });
}

/// place_contour of all.
template <class ClosedOf>
__device__ __forceinline__ void place_contours(const PlacementView& placement, const SumsBefore& sums,
                                               const ClosedOf& closed_of) {
  const unsigned places = places_of(placement.in, contours_of(placement.in));
  for (unsigned i = global_thread(); i < places; i += all_threads())
    place_contour(placement, sums, i, closed_of);
}

}  // namespace contorno
