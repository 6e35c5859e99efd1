// What the kernels of simplify share; PointSelection comes behind them.
#pragma once

#include "stages/contour_prep/shared/point_selection.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/contour_prep/simplify/rules.h"

namespace contorno::simplify_cuda {

/// Points between two that are kept.
struct Interval {
  unsigned begin = 0, end = 0;
  unsigned long long importance = kMostImportant;  ///< the least of those of its ends
};

/// One launch's arguments. Arrays have an element a point unless they say otherwise; those of a contour lie
/// where its points lie.
struct Job {
  ContoursView in;
  SimplifyLimits limits;
  std::uint8_t* keep = nullptr;  ///< the flags for PointSelection
  // Douglas-Peucker
  Interval* intervals = nullptr;             ///< of this round and of the next one, half of the points each
  unsigned long long* importance = nullptr;  ///< only with a budget
  // Visvalingam-Whyatt
  unsigned long long* areas = nullptr;           ///< the bits of twice the area; kFixed: never removed
  unsigned *before = nullptr, *after = nullptr;  ///< neighbours
  unsigned* smallest = nullptr;                  ///< the tree over the areas
};

/// One contour of a job, whose arrays begin at the contour's.
struct One {
  const Point* points = nullptr;
  unsigned begin = 0, own = 0;
  bool closed = false;

  __device__ __forceinline__ One(const ContoursView& in, unsigned contour)
      : points(in.points + in.offsets[contour]), begin(in.offsets[contour]), closed(in.closed[contour] != 0) {
    own = own_points(in.offsets[contour + 1] - begin, closed);
  }
};

}  // namespace contorno::simplify_cuda
