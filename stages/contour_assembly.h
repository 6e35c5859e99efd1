// Contour assembly: from crossed cells to contours with sub-pixel points, those of scikit-image's
// find_contours in the same order.
//
// Input: crossings from marching_squares.
// Output: contours of all classes, points rounded from float64 to float32, open at the border and at NaN.
// Memory: a quarter of a byte a sample, 16 bytes a contour, and the planned capacities. A frame that has more
//   is counted, never truncated: overflow() says what it needs.
// Equal bits because: points are interpolated in float64 from the same two samples in the same order, and
//   order and start points follow from positions alone.
#pragma once

#include "pipeline/stage.h"

namespace contorno {

const StageType& contour_assembly_stage();

}  // namespace contorno
