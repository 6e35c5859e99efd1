// Drop small: leaves out contours with few points, a short length or a small area.
//
// Input: contours of any stage.
//
// Output: the contours that are large enough, unchanged and in their order.
//
// Memory: 5 bytes a contour of the planned capacity on the CPU, about 28 on CUDA, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", section 2.3 (filter_vector_by_min), for the number of
// points.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"
#include "stages/contour_prep/shared/contour_size.h"

namespace contorno {

struct DropSmallParams {
  int min_points = 10;
  double min_length = 0;  ///< px
  double min_area = 0;    ///< px^2; an open contour has none
};

/// What a contour needs at least, in the units of size_in_units; one without points is none.
struct LeastSizes {
  std::uint64_t points = 0, length = 0, twice_area = 0;

  explicit LeastSizes(const DropSmallParams& params);
  std::uint64_t of(ContourSize by) const {
    return by == ContourSize::Points ? points : by == ContourSize::Length ? length : twice_area;
  }
};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_drop_small_cuda(const ParamSet& params);

const StageType& drop_small_stage();

}  // namespace contorno
