// Simplify: keeps the points of each contour that matter for its shape, by Douglas-Peucker or by
// Visvalingam-Whyatt.
//
// Input: contours of any stage.
//
// Output: the same contours with some of their points (shared/point_selection.h). An open contour keeps both
// ends, a closed one stays closed: at least 3 of its own points are kept if it has as many.
//
// Memory: 3 bytes a point of the planned capacity on the CPU and the output; 16 bytes a point more with a
// budget of points, 26 more for Visvalingam-Whyatt. On CUDA 18 bytes a point, 8 more with a budget, or 22 for
// Visvalingam-Whyatt; 12 a contour; and the output.
//
// Equal bits because every decision compares numbers that are computed in the same way from the same points
// (rules.h), and equal numbers are told apart by the order of the points.
//
// Sources: D. Douglas and T. Peucker, "Algorithms for the reduction of the number of points required to
// represent a digitized line or its caricature", 1973; M. Visvalingam and J. Whyatt, "Line generalisation by
// repeated elimination of points", 1993.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

enum class SimplifyMethod : std::uint8_t { DouglasPeucker, Visvalingam };

struct SimplifyParams {
  SimplifyMethod method = SimplifyMethod::DouglasPeucker;
  double tolerance = 1;  ///< px; px^2 for Visvalingam
  int points = 0;        ///< own points kept of each contour at most; 0 = any number
};

const StageType& simplify_stage();

}  // namespace contorno
