// The climb of mean shift of points, on both backends: every point moves from its start to where it comes to
// rest, its end. Internal.
#pragma once

#include <cstdint>
#include <vector>

#include "stages/mean_shift/frame.h"
#include "stages/mean_shift/lanes.h"
#include "stages/mean_shift/points.h"

namespace contorno {

/// The arguments of a climb, in the units of the tree; all memory is the caller's.
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

/// The memory and stream of a climb on the device, and where it leaves its ends.
struct ClimbPlace {
  MeanShiftMemory& memory;
  void* stream = nullptr;           ///< null = the memory's own
  double* device_points = nullptr;  ///< gets the ends in the points' units, count x dims; or null
  const MeanShiftFrame& frame;      ///< converts between the points' units and those of the tree
};

struct ClimbSummary {
  int iterations = 0;  ///< the most steps of a point
  double squared = 0;  ///< square of the longest last step; with Frobenius the sum of all
  bool converged = true;
  double device_us = 0;  ///< time on the device; 0 on the CPU
};

/// The sum of `count` squared steps in the order that both backends keep: kNormLanes partial sums, each over
/// every kNormLanes-th point, then the upper half is added to the lower until one is left.
inline constexpr int kNormLanes = 1024;
double sum_of_squares(const double* squares, int count);

template <class T>
ClimbSummary climb_on_cpu(const ClimbTask<T>& task, int threads, Simd simd);

/// The climb of the tree's own points; `starts` is not read, and `order` must be the tree's. Only in builds
/// that have CUDA.
template <class T>
ClimbSummary climb_on_cuda(const ClimbTask<T>& task, const ClimbPlace& place);

/// Labels of the ends of which `ends` is the tree and `points` the coordinates: ends with a squared distance
/// below `limit` belong together, also through others; labels are numbered by first appearance.
template <class T>
std::vector<int> connected_labels(const MeanShiftTree<T>& ends, const T* points, T limit, Simd simd);

/// For each of `count` points the index of the nearest end at a squared distance below `limit`, -1 if there
/// is none; of equally near ends the first.
template <class T>
std::vector<int> nearest_ends(const MeanShiftTree<T>& ends, const T* points, int count, T limit, int threads,
                              Simd simd);

}  // namespace contorno
