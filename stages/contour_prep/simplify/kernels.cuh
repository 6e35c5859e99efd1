// What the kernels of simplify share; PointSelection comes behind them.
#pragma once

#include "stages/contour_prep/shared/own_points.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/contour_prep/simplify/rules.h"

namespace contorno::simplify_cuda {

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

}  // namespace contorno::simplify_cuda
