// The inner loops of mean shift on the CPU, compiled for AVX-512, AVX2 and for any machine from one text
// (lanes.inc). All give the same bits: the 32 partial sums and the order in which they are added
// do not depend on the width of a vector. Functions are pure but for the scratch, which belongs to a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/mean_shift/rule.h"
#include "stages/mean_shift/tree.h"
#include "stages/shared/simd.h"

namespace contorno {

template <class T>
struct MeanShiftScratch {
  std::vector<int> leaves, nodes;
  std::vector<T> sums;

  explicit MeanShiftScratch(const MeanShiftTreeView<T>& tree)
      : leaves(static_cast<std::size_t>(tree.leaf_count) + kShiftLanes),
        nodes(leaves.size()),
        sums(static_cast<std::size_t>(tree.dims) * kShiftLanes) {}
};

template <class T>
struct MeanShiftLanes {
  /// One step: `next` = the weighted mean around y, or y where no point has weight. Returns the squared
  /// length of the step. `y` and `next` may be the same.
  T(*step)
  (const MeanShiftTreeView<T>& tree, const MeanShiftRule<T>& rule, const T* y, T* next,
   MeanShiftScratch<T>& scratch);
  /// Leaves whose box comes nearer to y than the root of `limit`, ascending, to scratch.leaves; how many.
  int (*near_leaves)(const MeanShiftTreeView<T>& tree, const T* y, T limit, MeanShiftScratch<T>& scratch);
  /// Bit l: the point in lane l is nearer to y than the root of `limit`.
  std::uint32_t (*near_lanes)(const T* leaf, int dims, const T* y, T limit);
};

/// The fastest of those up to `simd` that this build has.
template <class T>
const MeanShiftLanes<T>& mean_shift_lanes(Simd simd);

}  // namespace contorno
