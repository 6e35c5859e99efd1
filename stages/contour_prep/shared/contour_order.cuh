// The kernels of ContourOrder. Between them CUB adds up the lengths of the contours at their new places.
//
//   clear_lengths   sets lengths to 0
//   place_contours  the place of every contour that is kept, its length there, and the begin of the classes
//   (scan)          lengths become offsets
//   copy_points     every point to its place
#pragma once

#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/threads.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::contour_order_cuda {

inline constexpr unsigned kThreads = 256;

/// One launch's arguments.
struct Job {
  ContoursView in, out;
  unsigned limit = ~0U;              ///< of each class; never 0
  const unsigned* sorted = nullptr;  ///< see ContourOrder::sorted
  unsigned* lengths = nullptr;       ///< capacity + 1; at the new places
  unsigned* sources = nullptr;       ///< which contour comes to each new place
};

__global__ void __launch_bounds__(kThreads) clear_lengths(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  for (unsigned i = global_thread(); i <= capacity; i += all_threads()) job.lengths[i] = 0;
}

/// Contours of classes before `k` that are kept.
__device__ __forceinline__ unsigned kept_before(const Job& job, int k) {
  unsigned kept = 0;
  for (int one = 0; one < k; ++one)
    kept += min(job.in.class_begin[one + 1] - job.in.class_begin[one], job.limit);
  return kept;
}

__global__ void __launch_bounds__(kThreads) place_contours(const __grid_constant__ Job job) {
  const bool fits = job.in.fits();
  const auto classes = job.in.format.classes;
  const auto contours = fits ? static_cast<unsigned>(job.in.counts->contours) : 0U;
  for (unsigned i = global_thread(); i < contours; i += all_threads()) {
    const auto k = static_cast<int>(part_of(job.in.class_begin, static_cast<unsigned>(classes), i));
    const unsigned rank = i - job.in.class_begin[k];
    if (rank >= job.limit) continue;
    const unsigned place = kept_before(job, k) + rank, contour = job.sorted[i];
    job.lengths[place] = job.in.offsets[contour + 1] - job.in.offsets[contour];
    job.sources[place] = contour;
    job.out.closed[place] = job.in.closed[contour];
  }
  for (unsigned k = global_thread(); k <= static_cast<unsigned>(classes); k += all_threads())
    job.out.class_begin[k] = fits ? kept_before(job, static_cast<int>(k)) : 0;
}

__global__ void __launch_bounds__(kThreads) copy_points(const __grid_constant__ Job job) {
  const unsigned contours = job.out.class_begin[job.out.format.classes];
  const unsigned points = job.out.offsets[contours];
  if (global_thread() == 0)
    *job.out.counts = job.in.fits() ? ContourCounts{points, contours} : *job.in.counts;
  for (unsigned long long point = global_thread(); point < points; point += all_threads()) {
    const auto i = static_cast<unsigned>(point);
    const unsigned place = part_of(job.out.offsets, contours, i);
    job.out.points[i] = job.in.points[job.in.offsets[job.sources[place]] + (i - job.out.offsets[place])];
  }
}

}  // namespace contorno::contour_order_cuda
