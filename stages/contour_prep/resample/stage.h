// Resample: points at equal distances along each contour, instead of those that it had.
//
// Input: contours of any stage.
//
// Output: as many contours, each from the first to the last point of the contour as it was. How many points
// there are is known when they have been counted: what does not fit is run again with more room
// (Stage::overflow), never truncated.
//
// Memory: 8 bytes a point of the planned capacity of the input and 8 a contour on the CPU; 8 bytes a point
// and 8 a contour on CUDA, and what CUB needs; and the output.
//
// Equal bits because lengths are added as integers (geometry/contour_size.h), and where a point lies is told
// from them without rounding; only the last step, between two points, is computed in float64.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

struct ResampleParams {
  double spacing = 1;  ///< px
  int points = 0;      ///< of each contour, in place of a spacing
};

const StageType& resample_stage();

}  // namespace contorno
