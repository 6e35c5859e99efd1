// The inner loops of mean shift of points on the CPU. lanes.inc is compiled for AVX-512, for AVX2 and for any
// machine; all give the same bits, since there are 32 partial sums whatever the width of a vector, added in
// one order. The functions write to nothing but their results and the scratch, which belongs to a thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "stages/mean_shift/rule.h"
#include "stages/mean_shift/tree.h"
#include "stages/shared/simd.h"

namespace contorno {

/// Memory of one thread for walks over a tree.
template <class T>
struct MeanShiftScratch {
  std::vector<int> leaves, nodes;
  std::vector<T> sums;

  explicit MeanShiftScratch(const MeanShiftTreeView<T>& tree)
      : leaves(static_cast<std::size_t>(tree.leaf_count) + kShiftLanes),
        nodes(leaves.size()),
        sums(static_cast<std::size_t>(tree.dims) * kShiftLanes) {}
};

/// The functions of one instruction set.
template <class T>
struct MeanShiftLanes {
  /// One step: `next` becomes the weighted mean of the points around `y`, or `y` where no point has weight.
  /// Returns the squared length of the step. `y` and `next` have dims values and may be the same array.
  T(*step)
  (const MeanShiftTreeView<T>& tree, const MeanShiftRule<T>& rule, const T* y, T* next,
   MeanShiftScratch<T>& scratch);
  /// Writes the leaves whose box comes nearer to `y` than the root of `limit` to scratch.leaves, ascending;
  /// returns how many.
  int (*near_leaves)(const MeanShiftTreeView<T>& tree, const T* y, T limit, MeanShiftScratch<T>& scratch);
  /// Bit l is set if the point in lane l of the leaf is nearer to `y` than the root of `limit`.
  std::uint32_t (*near_lanes)(const T* leaf, int dims, const T* y, T limit);
};

/// The functions of the widest instruction set up to `simd` that this build has.
template <class T>
const MeanShiftLanes<T>& mean_shift_lanes(Simd simd);

}  // namespace contorno
