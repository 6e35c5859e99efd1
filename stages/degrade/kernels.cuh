// The kernel that puts points back: a thread a point. How many there are is not known on the host.
#pragma once

#include "cuda/launch.cuh"
#include "stages/degrade/place_points.h"

namespace contorno::degrade_cuda {

inline constexpr unsigned kThreads = 256;

__global__ void __launch_bounds__(kThreads)
    place_points(const ContoursView contours, const PointsPlacement placement) {
  if (!contours.fits()) return;
  const std::uint64_t step = static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
  for (std::uint64_t i = static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < contours.counts->points; i += step)
    contours.points[i] = placement(contours.points[i]);
}

}  // namespace contorno::degrade_cuda
