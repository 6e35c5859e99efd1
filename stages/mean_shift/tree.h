// A tree of points, and the order in which mean shift adds them: leaves of 32 points that are near each
// other, nodes with the boxes of 32 leaves, nodes above them with the boxes of 32 nodes, and so on.
//
// The point in lane l of a leaf always belongs to partial sum l, leaves are added in their order, and points
// without weight add nothing. A walk may therefore skip every leaf that is too far away and still gets the
// bits of the full sum. A vector pass on the CPU, or a step of a warp on CUDA, handles one leaf or the boxes
// of one node. A tree is read-only once made; any number of threads may use it.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "base/host_device.h"

namespace contorno {

inline constexpr int kShiftLanes = 32;
inline constexpr int kShiftLevels = 6;  // 32^6 = 2^30 points

/// The coordinate of lanes without a point or child: far from every point, but squares of distances do not
/// overflow.
template <class T>
inline constexpr T kShiftFar = T(1e15);

/// Where a tree lies in memory, on the host or on the device.
template <class T>
struct MeanShiftTreeView {
  const T* leaves = nullptr;  ///< coordinates by leaf, dimension, lane
  const T* boxes = nullptr;   ///< bounds by node, dimension, {low, high}, lane; nodes above leaves first
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

/// The tree of `points`, count x dims values, all finite and below 1e12 in size; count is at least 1. Its
/// order depends on the values alone; equal points keep their order.
template <class T>
MeanShiftTree<T> make_mean_shift_tree(const T* points, int count, int dims);

extern template MeanShiftTree<float> make_mean_shift_tree(const float*, int, int);
extern template MeanShiftTree<double> make_mean_shift_tree(const double*, int, int);

}  // namespace contorno
