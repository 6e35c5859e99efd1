// Douglas-Peucker on the device: a block splits all intervals of a round at once, long ones by the whole
// block, others by a warp each. The order in which a round's intervals are listed comes from atomics, but a
// split depends on the points of its interval alone.
#pragma once

#include "geometry/team.cuh"
#include "stages/contour_prep/simplify/methods.h"

namespace contorno::simplify_cuda {

/// Intervals of so many points a warp and more are searched by the whole block.
inline constexpr unsigned kLongInterval = 128;

struct JoinFarthest {
  __device__ void operator()(Farthest& a, const Farthest& b) const { a = a.or_farther(b); }
};
/// The farthest point of an interval, as far as this thread, number `lane` of `lanes`, looks.
__device__ __forceinline__ Farthest farthest_of_lane(const Point* points, const Interval& interval,
                                                     const Chord& chord, unsigned lane, unsigned lanes) {
  return farthest_of(points, interval.begin, interval.end, chord, interval.begin + 1 + lane, lanes);
}

/// The marks and lists of one contour.
class Splitter {
 public:
  __device__ Splitter(const BlockTeam& team, const DouglasPeucker& step, const OwnPoints& own,
                      std::uint8_t* keep)
      : team_(team),
        limits_(step.limits),
        work_(step.work),
        own_(own),
        shared_(*team.room<SplitShared>(1, nullptr)),
        keep_(keep),
        importance_(step.importance != nullptr ? step.importance + own.begin : nullptr),
        lists_(step.intervals + own.begin) {}

  /// Called by the whole block.
  __device__ void mark() {
    for (unsigned i = threadIdx.x; i < own_.count; i += team_.size()) keep_[i] = 0;
    if (threadIdx.x < 2) shared_.shorts[threadIdx.x] = shared_.longs[threadIdx.x] = 0;
    if (threadIdx.x == 0) shared_.kept = 0, shared_.looks = 0;
    __syncthreads();
    if (own_.closed) {
      begin_closed();
    } else if (threadIdx.x == 0) {
      keep(0, kMostImportant);
      keep(own_.count - 1, kMostImportant);
      push(0, {0, own_.count - 1, kMostImportant});
    }
    __syncthreads();
    for (unsigned round = 0; shared_.shorts[round % 2] + shared_.longs[round % 2] > 0; ++round) {
      split_all(round % 2);
      if (!work_.is_met(shared_.looks)) continue;
      if (threadIdx.x == 0) *work_.refused = own_.count;
      break;
    }
    if (importance_ != nullptr) keep_at_most(limits_.budget(own_.count, own_.closed));
  }

 private:
  __device__ unsigned warps() const { return team_.size() / kWarpLanes; }
  /// Called by the whole block; all threads get the result.
  __device__ Farthest farthest_of_block(const Interval& interval, const Chord& chord) const {
    return team_.combine(farthest_of_lane(own_.points, interval, chord, team_.rank(), team_.size()),
                         JoinFarthest());
  }

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
    if (work_.refused != nullptr) atomicAdd(&shared_.looks, 0ULL + interval.end - interval.begin);
    const unsigned place = interval.end - interval.begin >= kLongInterval * warps()
                               ? half() - 1 - atomicAdd(&shared_.longs[which], 1U)
                               : atomicAdd(&shared_.shorts[which], 1U);
    list(which)[place] = interval;
  }
  __device__ bool exceeds(const Farthest& found, double scale) const {
    return found.distance > limits_.distance * scale;
  }
  /// Keeps the point that was found, and lists the intervals on both sides of it. Called by one thread.
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
    const Farthest anchor = farthest_of_block({0, own_.count}, Chord(p[0], p[own_.count]));
    const Chord there(p[0], p[anchor.at]), back(p[anchor.at], p[own_.count]);
    ClosedHalves halves(own_.count, anchor);
    const Farthest of_there = farthest_of_block(halves.there, there);
    const Farthest of_back = farthest_of_block(halves.back, back);
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
      const Farthest found = farthest_of_block(interval, chord);
      if (threadIdx.x == 0 && exceeds(found, chord.scale)) split(interval, found, chord.scale, next);
    }
    const unsigned lane = threadIdx.x % 32;
    for (unsigned k = threadIdx.x / 32; k < shorts; k += warps()) {
      const Interval interval = list(which)[k];
      const Chord chord(own_.points[interval.begin], own_.points[interval.end]);
      const Farthest found =
          combine_lanes(farthest_of_lane(own_.points, interval, chord, lane, kWarpLanes), JoinFarthest());
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

  /// Keeps only the `budget` most important of the kept points, of equally important ones the first: finds
  /// the least importance that is chosen, 8 bits at a time.
  __device__ void keep_at_most(unsigned budget) {
    if (shared_.kept <= budget) return;
    if (threadIdx.x == 0) shared_.least = 0, shared_.left = budget;
    for (int shift = 56; shift >= 0; shift -= 8) {
      for (unsigned i = threadIdx.x; i < 256; i += team_.size()) shared_.histogram[i] = 0;
      __syncthreads();
      for (unsigned i = threadIdx.x; i < own_.count; i += team_.size())
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
    for (unsigned first = 0; first < own_.count; first += team_.size()) {
      const unsigned i = first + threadIdx.x;
      const bool kept = i < own_.count && keep_[i] != 0, equal = kept && importance_[i] == shared_.least;
      const unsigned equals = __ballot_sync(~0U, equal);
      if (lane == 0) shared_.histogram[warp] = static_cast<unsigned>(__popc(equals));
      __syncthreads();
      unsigned rank = before + static_cast<unsigned>(__popc(equals & ((1U << lane) - 1)));
      for (unsigned w = 0; w < warps(); ++w) {
        if (w < warp) rank += shared_.histogram[w];
        before += shared_.histogram[w];
      }
      if (kept && (importance_[i] < shared_.least || (equal && rank >= shared_.left))) keep_[i] = 0;
      __syncthreads();
    }
  }

  const BlockTeam& team_;
  const SimplifyLimits& limits_;
  const WorkLimit& work_;
  const OwnPoints& own_;
  SplitShared& shared_;
  std::uint8_t* keep_;
  unsigned long long* importance_;
  Interval* lists_;
};

}  // namespace contorno::simplify_cuda

namespace contorno {

__device__ inline void mark(const BlockTeam& team, const DouglasPeucker& step, const OwnPoints& own,
                            std::uint8_t* keep) {
  if (own.count > SimplifyLimits::fewest(own.closed))
    simplify_cuda::Splitter(team, step, own, keep).mark();
  else
    team.each(own.count, [&](std::uint64_t i) { keep[i] = 1; });
}

}  // namespace contorno
