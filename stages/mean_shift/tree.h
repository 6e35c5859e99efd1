// Points in the order in which mean shift adds them: leaves of 32 near neighbours, 32 leaves under a node, 32
// nodes under the next. Lane l of a leaf always feeds partial sum l, leaves come in their order, and points
// without weight add nothing; so a walk may leave out any leaf that is too far away and still gets the bits
// of the full sum. One vector pass on the CPU, one warp step on CUDA, handles a leaf or the boxes of a node.
// A tree is read-only once made; any number of threads may use it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "cuda/host_device.h"

namespace contorno {

inline constexpr int kShiftLanes = 32;
inline constexpr int kShiftLevels = 6;  // 32^6 = 2^30 points

/// Lanes without a point or child lie here: far from everything, and yet no overflow.
template <class T>
inline constexpr T kShiftFar = T(1e15);

/// Where a tree lies in memory, on the host or on the device.
template <class T>
struct MeanShiftTreeView {
  const T* leaves = nullptr;  ///< leaf, dimension, lane
  const T* boxes = nullptr;   ///< node, dimension, {low, high}, lane; nodes of level 0 first
  int dims = 0, leaf_count = 0;
  int levels = 0;                      ///< node levels; the top one has one node
  int level_begin[kShiftLevels] = {};  ///< first node of each level

  CONTORNO_HD const T* leaf(int index) const {
    return leaves + static_cast<std::ptrdiff_t>(index) * dims * kShiftLanes;
  }
  CONTORNO_HD const T* node(int level, int index) const {
    return boxes + static_cast<std::ptrdiff_t>(level_begin[level] + index) * dims * 2 * kShiftLanes;
  }
};

template <class T>
struct MeanShiftTree {
  int dims = 0, count = 0, leaf_count = 0, levels = 0;
  std::vector<int> order;  ///< point at each position; position = leaf * 32 + lane
  std::vector<T> leaves, boxes;
  std::array<int, kShiftLevels> level_begin{};

  MeanShiftTreeView<T> view() const;
};

/// `points` holds count x dims values, all finite and below 1e12 in size; count at least 1. The order depends
/// on the values alone; points that are equal keep theirs.
template <class T>
MeanShiftTree<T> make_mean_shift_tree(const T* points, int count, int dims);

extern template MeanShiftTree<float> make_mean_shift_tree(const float*, int, int);
extern template MeanShiftTree<double> make_mean_shift_tree(const double*, int, int);

}  // namespace contorno
