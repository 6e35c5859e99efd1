// The kernels of drop_small; ContourOrder comes behind them.
//
//   clear_sums     sets sums to 0; both only where there is a least length or area
//   add_segments   adds every segment's part to the sums of its contour
//   measure_large  the words of the contours that are large enough
#pragma once

#include "stages/contour_prep/drop_small/stage.h"
#include "stages/contour_prep/shared/contour_size.cuh"
#include "stages/contour_prep/shared/placement.cuh"

namespace contorno::drop_small_cuda {

/// One launch's arguments.
struct Job {
  PlacementView placement;
  LeastSizes least{DropSmallParams{}};
  unsigned long long *lengths = nullptr, *areas = nullptr;  ///< sums over the segments of each contour
};

__global__ void __launch_bounds__(kArrayThreads) clear_sums(const __grid_constant__ Job job) {
  const unsigned contours = contours_of(job.placement.in);
  for (unsigned i = global_thread(); i < contours; i += all_threads()) job.lengths[i] = job.areas[i] = 0;
}

__global__ void __launch_bounds__(kArrayThreads) add_segments(const __grid_constant__ Job job) {
  const ContoursView& in = job.placement.in;
  if (!in.fits()) return;
  if (job.least.length > 0) add_segment_sizes(in, ContourSize::Length, job.lengths);
  if (job.least.twice_area > 0) add_segment_sizes(in, ContourSize::Area, job.areas);
}

__device__ __forceinline__ bool is_large(const Job& job, unsigned contour) {
  const unsigned points = points_of(job.placement.in, contour);
  const bool closed = job.placement.in.closed[contour] != 0;
  return points >= job.least.points &&
         (job.least.length == 0 ||
          size_in_units(ContourSize::Length, job.lengths[contour], points, closed) >= job.least.length) &&
         (job.least.twice_area == 0 ||
          size_in_units(ContourSize::Area, job.areas[contour], points, closed) >= job.least.twice_area);
}

__global__ void __launch_bounds__(kArrayThreads) measure_large(const __grid_constant__ Job job) {
  measure_contours(job.placement, [&](unsigned contour) {
    return is_large(job, contour) ? contour_word(points_of(job.placement.in, contour)) : 0ULL;
  });
}

}  // namespace contorno::drop_small_cuda
