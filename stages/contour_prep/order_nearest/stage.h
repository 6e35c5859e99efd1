// Order nearest: the contours of each class so that each is followed by the nearest one that is left, as a
// pen draws them with short ways in between.
//
// Input: contours of any stage.
//
// Output: the same contours, whole and unchanged, in another order. The first contour stays the first. The
// distance of two contours is that of their nearest points; of several at the same distance, the first comes
// next, as it does when all that are left are infinitely far.
//
// Memory: about 5 bytes a point and 80 a contour of the planned capacities on the CPU, 36 a contour on CUDA,
// and the output.
//
// Source: L. V. Greco, "Fourier Drawing Machine", sections 2.6 and 3.7
// (order_clusters_by_minimum_distance). The order is the paper's; boxes around points take the place of the
// matrix of distances.
#pragma once

#include <memory>

#include "pipeline/graph/stage.h"

namespace contorno {

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet& params);

const StageType& order_nearest_stage();

}  // namespace contorno
