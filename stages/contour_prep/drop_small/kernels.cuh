// The kernels of drop_small; PointSelection comes behind them.
#pragma once

#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/contour_size.cuh"

namespace contorno::drop_small_cuda {

inline constexpr unsigned kThreads = 256;

/// One launch's arguments.
struct Job {
  ContoursView in;
  LeastSizes least{DropSmallParams{}};
  unsigned long long *lengths = nullptr, *areas = nullptr;  ///< sums over the segments of each contour
  std::uint8_t* keep = nullptr;                             ///< the flags for PointSelection
};

__global__ void __launch_bounds__(kThreads) clear_sums(const __grid_constant__ Job job) {
  const auto contours = job.in.fits() ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned i = global_thread(); i < contours; i += all_threads()) job.lengths[i] = job.areas[i] = 0;
}

__global__ void __launch_bounds__(kThreads) add_segments(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  if (job.least.length > 0) add_segment_sizes(job.in, ContourSize::Length, job.lengths);
  if (job.least.twice_area > 0) add_segment_sizes(job.in, ContourSize::Area, job.areas);
}

__device__ __forceinline__ bool is_large(const Job& job, unsigned contour) {
  const unsigned points = job.in.offsets[contour + 1] - job.in.offsets[contour];
  const bool closed = job.in.closed[contour] != 0;
  return points >= job.least.points &&
         (job.least.length == 0 ||
          size_in_units(ContourSize::Length, job.lengths[contour], points, closed) >= job.least.length) &&
         (job.least.twice_area == 0 ||
          size_in_units(ContourSize::Area, job.areas[contour], points, closed) >= job.least.twice_area);
}

__global__ void __launch_bounds__(kThreads) mark_points(const __grid_constant__ Job job) {
  if (!job.in.fits()) return;
  const auto points = static_cast<unsigned>(job.in.counts->points);
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    job.keep[i] = is_large(job, part_of(job.in.offsets, contours, i)) ? 1 : 0;
  }
}

}  // namespace contorno::drop_small_cuda
