// Drop small: leaves out contours with few points, a short length or a small area.
//
// Input: contours of any stage.
//
// Output: the contours that are large enough, unchanged and in their order.
//
// Memory: 5 bytes a contour of the planned capacity on the CPU, about 13 on CUDA, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.3 (filter_vector_by_min), for the number of
// points.
#pragma once

#include "pipeline/graph/stage.h"

namespace contorno {

struct DropSmallParams {
  int min_points = 10;
  double min_length = 0;  ///< px
  double min_area = 0;    ///< px^2; an open contour has none
};

const StageType& drop_small_stage();

}  // namespace contorno
