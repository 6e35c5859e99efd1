// Largest first: the contours of each class by size, the largest first, and at most `limit` of each class.
//
// Input: contours of any stage.
//
// Output: contours of the same format, whole and unchanged. Contours of equal size keep their order.
//
// Memory: 44 bytes a contour of the planned capacity on the CPU, about 48 on CUDA, and the output.
#pragma once

#include <memory>

#include "geometry/contour_size.h"
#include "pipeline/graph/stage.h"

namespace contorno {

struct LargestFirstParams {
  ContourSize by = ContourSize::Area;
  int limit = 0;  ///< contours kept of each class; 0 = all
  bool only_first = false;
};

/// The most classes: class and size are sorted as one key of 64 bits.
inline constexpr int kMostSizedClasses = 1 << (64 - kSizeBits);

/// The format of the input, which is that of the output. Throws Error(BadConfig) when it has too many
/// classes.
const ContoursFormat& checked_contours(const PlanContext& context);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params);

const StageType& largest_first_stage();

}  // namespace contorno
