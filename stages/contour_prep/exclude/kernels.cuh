// The kernel of exclude; PointSelection comes behind it.
#pragma once

#include "stages/contour_prep/exclude/region.h"
#include "stages/contour_prep/shared/threads.cuh"

namespace contorno::exclude_cuda {

/// One launch's arguments.
struct Job {
  ContoursView in;
  RegionView region;             ///< with arrays on the device
  std::uint8_t* keep = nullptr;  ///< the flags for PointSelection
};

__global__ void __launch_bounds__(kArrayThreads) mark_points(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const unsigned long long points = job.in.counts->points;
  for (unsigned long long i = global_thread(); i < points; i += all_threads())
    job.keep[i] = job.region.has(job.in.points[i]) ? 0 : 1;
}

}  // namespace contorno::exclude_cuda
