// Visvalingam-Whyatt on the device: a warp removes one point after the other, because which triangle is the
// smallest depends on all removals before. The smallest one is found by a tree in which a node stands for 32
// nodes of the level below, so that its lanes look at them at once.
#pragma once

#include "geometry/team.cuh"
#include "stages/contour_prep/simplify/methods.h"

namespace contorno::simplify_cuda {

/// In place of an area: this point is not removed (again).
inline constexpr unsigned long long kFixed = ~0ULL;

/// The lane with the smallest value of a warp; of equal ones the first.
__device__ __forceinline__ unsigned lane_of_smallest(unsigned long long value) {
  const auto high = static_cast<unsigned>(value >> 32), low = static_cast<unsigned>(value);
  const unsigned least_high = lowest_among(~0U, high);
  const unsigned least_low = lowest_among(~0U, high == least_high ? low : ~0U);
  return static_cast<unsigned>(
             __ffs(static_cast<int>(__ballot_sync(~0U, high == least_high && low == least_low)))) -
         1;
}

/// One contour whose points are removed by a warp. Every lane computes the same; the first one writes.
class Remover {
 public:
  __device__ Remover(const Visvalingam& step, const OwnPoints& own, std::uint8_t* keep)
      : own_(own),
        limits_(step.limits),
        keep_(keep),
        areas_(step.areas + own.begin),
        before_(step.before + own.begin),
        after_(step.after + own.begin),
        smallest_(step.smallest + own.begin),
        lane_(warp_lane()) {}

  __device__ void mark() {
    const unsigned own = own_.count, fewest = SimplifyLimits::fewest(own_.closed);
    for (unsigned i = lane_; i < own; i += 32) keep_[i] = 1;
    if (own <= fewest) return;
    make();
    const unsigned budget = limits_.budget(own, own_.closed);
    const unsigned long long limit = bits_of(limits_.area);
    for (unsigned kept = own; kept > fewest; --kept) {
      const unsigned at = smallest_[root_];
      const unsigned long long area = areas_[at];
      if (area == kFixed || (kept <= budget && area > limit)) return;
      remove(at);
    }
  }

 private:
  __device__ unsigned long long area_of(unsigned before, unsigned at, unsigned after) const {
    if (!may_go(at, own_.count, own_.closed)) return kFixed;
    return area_bits(own_.points[before], own_.points[at], own_.points[after]);
  }

  /// The areas and the whole tree. Its levels follow each other; the last one has one node.
  __device__ void make() {
    const unsigned own = own_.count;
    for (unsigned i = lane_; i < own; i += 32) {
      const unsigned before = ring_before(i, own), after = ring_after(i, own);
      before_[i] = before, after_[i] = after;
      areas_[i] = area_of(before, i, after);
    }
    __syncwarp();
    unsigned below = own, first_below = 0, first = 0;
    for (bool leaves = true; leaves || below > 1; leaves = false) {
      const unsigned nodes = (below + 31) / 32;
      for (unsigned node = 0; node < nodes; ++node) refresh(leaves, first_below, below, first, node);
      __syncwarp();
      first_below = first, below = nodes, first += nodes;
    }
    root_ = first_below;
  }

  /// Writes one node again: which point below it has the smallest area.
  __device__ void refresh(bool leaves, unsigned first_below, unsigned below, unsigned first, unsigned node) {
    const unsigned child = 32 * node + lane_;
    unsigned at = 0;
    unsigned long long area = kFixed;
    if (child < below) {
      at = leaves ? child : smallest_[first_below + child];
      area = areas_[at];
    }
    at = __shfl_sync(~0U, at, static_cast<int>(lane_of_smallest(area)));
    if (lane_ == 0) smallest_[first + node] = at;
  }

  __device__ void remove(unsigned at) {
    const unsigned before = before_[at], after = after_[at];
    // At the ends of an open contour these are not used.
    const unsigned before2 = before_[before], after2 = after_[after];
    const unsigned long long area_before = area_of(before2, before, after);
    const unsigned long long area_after = area_of(before, after, after2);
    __syncwarp();
    if (lane_ == 0) {
      keep_[at] = 0;
      areas_[at] = kFixed;
      after_[before] = after, before_[after] = before;
      areas_[before] = area_before, areas_[after] = area_after;
    }
    __syncwarp();
    unsigned below = own_.count, first_below = 0, first = 0;
    unsigned a = at / 32, b = before / 32, c = after / 32;
    for (bool leaves = true; leaves || below > 1; leaves = false) {
      refresh(leaves, first_below, below, first, a);
      if (b != a) refresh(leaves, first_below, below, first, b);
      if (c != a && c != b) refresh(leaves, first_below, below, first, c);
      __syncwarp();
      const unsigned nodes = (below + 31) / 32;
      first_below = first, below = nodes, first += nodes;
      a /= 32, b /= 32, c /= 32;
    }
  }

  const OwnPoints& own_;
  const SimplifyLimits& limits_;
  std::uint8_t* keep_;
  unsigned long long* areas_;
  unsigned *before_, *after_, *smallest_;
  unsigned lane_ = 0, root_ = 0;
};

}  // namespace contorno::simplify_cuda

namespace contorno {

__device__ inline void mark(const WarpTeam& team, const Visvalingam& step, const OwnPoints& own,
                            std::uint8_t* keep) {
  simplify_cuda::Remover(step, own, keep).mark();
  team.synchronise();
}

}  // namespace contorno
