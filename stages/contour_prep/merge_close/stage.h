// Merge close: joins contours of a class that come near each other.
//
// Input: contours of any stage.
//
// Output: contours of the same format. Two contours are joined when some point of the one is nearer to some
// point of the other than the distance, and so are all that are joined to one of them. A joined contour is
// open and has the points of its members in the order of these; its place is that of its first member. Other
// contours are unchanged.
//
// Memory: about 48 bytes a point and 12 a contour of the planned capacity on the CPU, about 45 a point and 56
// a contour on CUDA, and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", sections 2.2 and 3.6 (merge_close_contours).
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

struct MergeCloseParams {
  double distance = 2;  ///< px; contours nearer to each other than this are joined
};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_merge_close_cuda(const ParamSet& params);

const StageType& merge_close_stage();

}  // namespace contorno
