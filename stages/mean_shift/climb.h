// The climb of mean shift, on both backends: from starts to where they come to rest. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/mean_shift/frame.h"
#include "stages/mean_shift/lanes.h"
#include "stages/mean_shift/points.h"

namespace contorno {

/// What a climb works on; everything belongs to the caller.
template <class T>
struct ClimbTask {
  const MeanShiftTree<T>* tree = nullptr;
  MeanShiftRule<T> rule;
  MeanShiftStop stop = MeanShiftStop::PerPoint;
  const T* starts = nullptr;   ///< count x dims
  const int* order = nullptr;  ///< in which starts are taken, for locality; null = as they are
  T* ends = nullptr;           ///< count x dims
  int count = 0;
};

/// Where a climb on the device is done, and what it leaves there.
struct ClimbPlace {
  MeanShiftMemory& memory;
  void* stream = nullptr;           ///< null = the memory's own
  double* device_points = nullptr;  ///< null, or for the ends in the points' units, count x dims
  const MeanShiftFrame& frame;      ///< that of the tree
};

struct ClimbSummary {
  int iterations = 0;
  double squared = 0;  ///< of the longest last step, or the sum of all with Frobenius
  bool converged = true;
  double device_us = 0;
};

/// Squared steps of all points, added in an order that both backends keep: kNormLanes partial sums over every
/// kNormLanes-th point, then halves to halves.
inline constexpr int kNormLanes = 1024;
double sum_of_squares(const double* squares, int count);

template <class T>
ClimbSummary climb_on_cpu(const ClimbTask<T>& task, int threads, Simd simd);

/// From the tree's own points: `starts` is not looked at, `order` is the tree's. Only in builds that have
/// CUDA.
template <class T>
ClimbSummary climb_on_cuda(const ClimbTask<T>& task, const ClimbPlace& place);

/// Labels of `count` ends: components of ends closer than the root of `limit`, by first appearance.
template <class T>
std::vector<int> connected_labels(const MeanShiftTree<T>& ends, const T* points, T limit, Simd simd);

/// For each of `count` points the index of the nearest end closer than the root of `limit`, -1 without one;
/// of equally near ones the first.
template <class T>
std::vector<int> nearest_ends(const MeanShiftTree<T>& ends, const T* points, int count, T limit, int threads,
                              Simd simd);

}  // namespace contorno
