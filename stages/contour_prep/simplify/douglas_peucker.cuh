// Douglas-Peucker on the device: a block takes a contour at a time and splits all intervals of a round at
// once, long ones by the whole block, others by a warp each. The order in which a round's intervals are
// listed comes from atomics, but a split depends on the points of its interval alown.
#pragma once

#include "stages/contour_prep/simplify/kernels.cuh"

namespace contorno::simplify_cuda {

// Threads of a block: small blocks, of which many contours have one at the same time, and for contours of so
// many points and more blocks as large as can be.
inline constexpr unsigned kFewThreads = 128, kManyThreads = 1024, kLongContour = 2048;
/// Intervals of so many points a warp and more are searched by the whole block.
inline constexpr unsigned kLongInterval = 128;

struct SplitShared {
  unsigned large[kManyThreads / 32];  ///< a bit for each contour that needs the block
  unsigned shorts[2], longs[2];  ///< intervals of this round and the next: at the begin and end of their list
  Farthest found[kManyThreads / 32];
  unsigned histogram[256];
  unsigned kept;
  // The choice of the budget: the bits of the least importance that are known, and how many points that have
  // them are chosen.
  unsigned long long least;
  unsigned left;
};

__device__ __forceinline__ Farthest farthest_of_warp(Farthest mine) {
  for (int step = 16; step > 0; step /= 2)
    mine = mine.or_farther({__shfl_xor_sync(~0U, mine.distance, step), __shfl_xor_sync(~0U, mine.at, step)});
  return mine;
}

/// The farthest point of an interval, as far as this thread, number `lane` of `lanes`, looks.
__device__ __forceinline__ Farthest farthest_of_lane(const Point* points, const Interval& interval,
                                                     const Chord& chord, unsigned lane, unsigned lanes) {
  return farthest_of(points, interval.begin, interval.end, chord, interval.begin + 1 + lane, lanes);
}

/// Called by the whole block; all threads get the result.
template <unsigned kThreads>
__device__ Farthest farthest_of_block(const Point* points, const Interval& interval, const Chord& chord,
                                      SplitShared& shared) {
  const Farthest mine = farthest_of_warp(farthest_of_lane(points, interval, chord, threadIdx.x, kThreads));
  __syncthreads();
  if (threadIdx.x % 32 == 0) shared.found[threadIdx.x / 32] = mine;
  __syncthreads();
  Farthest found = shared.found[0];
  for (unsigned w = 1; w < kThreads / 32; ++w) found = found.or_farther(shared.found[w]);
  return found;
}

/// The marks and lists of one contour, for a block of so many threads.
template <unsigned kThreads>
class Splitter {
 public:
  __device__ Splitter(const Job& job, const OwnPoints& own, SplitShared& shared)
      : job_(job),
        own_(own),
        shared_(shared),
        keep_(job.keep + own.begin),
        importance_(job.importance != nullptr ? job.importance + own.begin : nullptr),
        lists_(job.intervals + own.begin) {}

  /// Called by the whole block.
  __device__ void mark() {
    for (unsigned i = threadIdx.x; i < own_.count; i += kThreads) keep_[i] = 0;
    if (threadIdx.x < 2) shared_.shorts[threadIdx.x] = shared_.longs[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared_.kept = 0;
    __syncthreads();
    if (own_.closed) {
      begin_closed();
    } else if (threadIdx.x == 0) {
      keep(0, kMostImportant);
      keep(own_.count - 1, kMostImportant);
      push(0, {0, own_.count - 1, kMostImportant});
    }
    __syncthreads();
    for (unsigned round = 0; shared_.shorts[round % 2] + shared_.longs[round % 2] > 0; ++round)
      split_all(round % 2);
    if (importance_ != nullptr) keep_at_most(job_.limits.budget(own_.count, own_.closed));
  }

 private:
  static constexpr unsigned kWarps = kThreads / 32;

  __device__ unsigned half() const { return own_.count / 2; }
  __device__ Interval* list(unsigned which) const { return lists_ + which * half(); }

  __device__ void keep(unsigned at, unsigned long long importance) {
    keep_[at] = 1;
    if (importance_ != nullptr) importance_[at] = importance;
    atomicAdd(&shared_.kept, 1U);
  }
  /// Lists an interval if it has points.
  __device__ void push(unsigned which, const Interval& interval) {
    if (interval.is_empty()) return;
    const unsigned place = interval.end - interval.begin >= kLongInterval * kWarps
                               ? half() - 1 - atomicAdd(&shared_.longs[which], 1U)
                               : atomicAdd(&shared_.shorts[which], 1U);
    list(which)[place] = interval;
  }
  __device__ bool exceeds(const Farthest& found, double scale) const {
    return found.distance > job_.limits.distance * scale;
  }
  /// By one thread: keeps what was found, and lists both sides.
  __device__ void split(const Interval& interval, const Farthest& found, double scale, unsigned next) {
    const unsigned long long importance =
        importance_ != nullptr ? importance_of(found.distance, scale, interval.importance) : 0;
    keep(found.at, importance);
    push(next, {interval.begin, found.at, importance});
    push(next, {found.at, interval.end, importance});
  }

  /// The anchors, and the first split of both halves; that of one half whatever the tolerance.
  __device__ void begin_closed() {
    const Point* const p = own_.points;
    const Farthest anchor =
        farthest_of_block<kThreads>(p, {0, own_.count}, Chord(p[0], p[own_.count]), shared_);
    const Chord there(p[0], p[anchor.at]), back(p[anchor.at], p[own_.count]);
    ClosedHalves halves(own_.count, anchor);
    const Farthest of_there = farthest_of_block<kThreads>(p, halves.there, there, shared_);
    const Farthest of_back = farthest_of_block<kThreads>(p, halves.back, back, shared_);
    if (threadIdx.x != 0) return;
    halves.compare(of_there, of_back);
    keep(0, kMostImportant);
    keep(anchor.at, halves.importance);
    if (!halves.there.is_empty() && (!halves.is_back || exceeds(of_there, there.scale)))
      split(halves.there, of_there, there.scale, 0);
    if (!halves.back.is_empty() && (halves.is_back || exceeds(of_back, back.scale)))
      split(halves.back, of_back, back.scale, 0);
  }

  /// One round: the intervals of list `which`; what remains of them goes to the other list.
  __device__ void split_all(unsigned which) {
    const unsigned next = 1 - which, longs = shared_.longs[which], shorts = shared_.shorts[which];
    for (unsigned k = 0; k < longs; ++k) {
      const Interval interval = list(which)[half() - 1 - k];
      const Chord chord(own_.points[interval.begin], own_.points[interval.end]);
      const Farthest found = farthest_of_block<kThreads>(own_.points, interval, chord, shared_);
      if (threadIdx.x == 0 && exceeds(found, chord.scale)) split(interval, found, chord.scale, next);
    }
    const unsigned lane = threadIdx.x % 32;
    for (unsigned k = threadIdx.x / 32; k < shorts; k += kWarps) {
      const Interval interval = list(which)[k];
      const Chord chord(own_.points[interval.begin], own_.points[interval.end]);
      const Farthest found = farthest_of_warp(farthest_of_lane(own_.points, interval, chord, lane, 32));
      if (lane == 0 && exceeds(found, chord.scale)) split(interval, found, chord.scale, next);
    }
    __syncthreads();
    if (threadIdx.x == 0) shared_.shorts[which] = shared_.longs[which] = 0;
    __syncthreads();
  }

  /// Whether point i is kept so far and the known bits of its importance, those above `shift`, are `least`.
  __device__ bool agrees(unsigned i, int shift) const {
    return keep_[i] != 0 && (shift == 64 || importance_[i] >> shift == shared_.least >> shift);
  }

  /// Of the kept points the `budget` most important ones, of equal ones the first: finds the least importance
  /// that is chosen, 8 bits at a time.
  __device__ void keep_at_most(unsigned budget) {
    if (shared_.kept <= budget) return;
    if (threadIdx.x == 0) shared_.least = 0, shared_.left = budget;
    for (int shift = 56; shift >= 0; shift -= 8) {
      for (unsigned i = threadIdx.x; i < 256; i += kThreads) shared_.histogram[i] = 0;
      __syncthreads();
      for (unsigned i = threadIdx.x; i < own_.count; i += kThreads)
        if (agrees(i, shift + 8))
          atomicAdd(&shared_.histogram[static_cast<unsigned>(importance_[i] >> shift) & 255U], 1U);
      __syncthreads();
      if (threadIdx.x == 0) {
        unsigned digit = 255;
        for (; shared_.histogram[digit] < shared_.left; --digit) shared_.left -= shared_.histogram[digit];
        shared_.least |= static_cast<unsigned long long>(digit) << shift;
      }
      __syncthreads();
    }
    drop_unimportant();
  }

  /// Points below `least` go, and of those that are equal to it all but the first `left` ones.
  __device__ void drop_unimportant() {
    unsigned before = 0;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned first = 0; first < own_.count; first += kThreads) {
      const unsigned i = first + threadIdx.x;
      const bool kept = i < own_.count && keep_[i] != 0, equal = kept && importance_[i] == shared_.least;
      const unsigned equals = __ballot_sync(~0U, equal);
      if (lane == 0) shared_.histogram[warp] = static_cast<unsigned>(__popc(equals));
      __syncthreads();
      unsigned rank = before + static_cast<unsigned>(__popc(equals & ((1U << lane) - 1)));
      for (unsigned w = 0; w < kWarps; ++w) {
        if (w < warp) rank += shared_.histogram[w];
        before += shared_.histogram[w];
      }
      if (kept && (importance_[i] < shared_.least || (equal && rank >= shared_.left))) keep_[i] = 0;
      __syncthreads();
    }
  }

  const Job& job_;
  const OwnPoints& own_;
  SplitShared& shared_;
  std::uint8_t* keep_;
  unsigned long long* importance_;
  Interval* lists_;
};

/// Takes the contours of kLongContour own points and more, or the others. Those that lie beside each other go
/// to different blocks: large ones are often neighbours.
template <unsigned kThreads>
__global__ void __launch_bounds__(kThreads) split_contours(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  auto& shared = block_shared<SplitShared>();
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  for (unsigned long long first = blockIdx.x; first < contours; first += 1ULL * gridDim.x * kThreads) {
    // So many contours are looked at once; those of which every point is kept are done with that.
    const unsigned long long mine = first + 1ULL * threadIdx.x * gridDim.x;
    bool large = false;
    if (mine < contours) {
      const OwnPoints own(job.in, static_cast<unsigned>(mine));
      const bool here = (own.count >= kLongContour) == (kThreads == kManyThreads);
      large = here && own.count > SimplifyLimits::fewest(own.closed);
      if (here && !large)
        for (unsigned i = 0; i < own.count; ++i) job.keep[own.begin + i] = 1;
    }
    const unsigned larges = __ballot_sync(~0U, large);
    if (threadIdx.x % 32 == 0) shared.large[threadIdx.x / 32] = larges;
    __syncthreads();
    for (unsigned w = 0; w < kThreads / 32; ++w)
      for (unsigned rest = shared.large[w]; rest != 0; rest &= rest - 1) {
        const auto k = 32 * w + static_cast<unsigned>(__ffs(static_cast<int>(rest))) - 1;
        const OwnPoints own(job.in, static_cast<unsigned>(first + 1ULL * k * gridDim.x));
        Splitter<kThreads>(job, own, shared).mark();
        __syncthreads();
      }
    __syncthreads();
  }
}

}  // namespace contorno::simplify_cuda
