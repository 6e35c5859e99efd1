// Exclude: leaves out points that a brush painted over: points and strokes of a radius, and a mask.
//
// Input: contours of any stage.
//
// Output: the points of all classes that are not painted over, in their order and their contours.
//
// Memory: a byte a point of the planned capacity on the CPU, 1.4 a point and 12 a contour on CUDA, with the
// painted region as often as there are slots, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.1 (filter_contour_by_hand), for points.
#pragma once

#include <vector>

#include "pipeline/graph/stage.h"

namespace contorno {

struct ExcludeParams {
  std::vector<double> points;   ///< x0, y0, x1, y1, ... in px
  std::vector<double> strokes;  ///< x0, y0, x1, y1 of one stroke after another, in px
  SharedMask mask;              ///< excludes where it is not 0; null: none
  double radius = 0;            ///< px, of points and strokes
};

const StageType& exclude_stage();

}  // namespace contorno
