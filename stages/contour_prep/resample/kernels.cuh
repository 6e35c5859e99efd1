// The kernels of resample. What is added up between them is that of the whole capacity (PrefixSum).
//
//   measure_segments  the length of the segment that begins at every point, as an integer
//   (sum)             lengths up to every point
//   count_points      how many points every contour will have
//   (sum)             numbers become offsets
//   place_resampled   offsets, closed flags, attributes, begins of the classes, and counts
//   write_points      the points
#pragma once

#include "stages/contour_prep/resample/rules.h"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::resample_cuda {

/// One launch's arguments.
struct Job {
  ContoursView in, out;
  ResampleSteps steps;
  /// Of the segment behind every point of the capacity, and then of all before it, from contour to contour.
  unsigned long long* lengths = nullptr;
  /// The points of each contour of the capacity, and one more; then those of all contours before.
  unsigned long long* offsets = nullptr;
  unsigned long long* needed = nullptr;  ///< page-locked: points of the frame; 0 if the input did not fit
};

__global__ void __launch_bounds__(kArrayThreads) measure_segments(const __grid_constant__ Job job) {
  const unsigned long long capacity = job.in.format.point_capacity;
  const unsigned long long points = job.in.fits() ? job.in.counts->points : 0;
  const auto contours = static_cast<unsigned>(job.in.counts->contours);
  for (unsigned long long i = global_thread(); i < capacity; i += all_threads()) {
    unsigned long long length = 0;
    if (i + 1 < points) {
      const auto point = static_cast<unsigned>(i);
      if (point + 1 < job.in.offsets[part_of(job.in.offsets, contours, point) + 1])
        length =
            static_cast<unsigned long long>(segment_length(job.in.points[point], job.in.points[point + 1]));
    }
    job.lengths[i] = length;
  }
}

/// How long a contour is.
__device__ __forceinline__ unsigned long long length_of(const Job& job, unsigned contour) {
  const unsigned begin = job.in.offsets[contour], end = job.in.offsets[contour + 1];
  return begin < end ? job.lengths[end - 1] - job.lengths[begin] : 0;
}

__global__ void __launch_bounds__(kArrayThreads) count_points(const __grid_constant__ Job job) {
  const unsigned long long capacity = job.in.format.contour_capacity;
  const unsigned long long contours = job.in.fits() ? job.in.counts->contours : 0;
  for (unsigned long long i = global_thread(); i <= capacity; i += all_threads()) {
    unsigned long long stored = 0;
    if (i < contours) {
      const auto contour = static_cast<unsigned>(i);
      stored = job.steps.stored_points(length_of(job, contour), points_of(job.in, contour),
                                       job.in.closed[contour] != 0);
    }
    job.offsets[i] = stored;
  }
}

__global__ void __launch_bounds__(kArrayThreads) place_resampled(const __grid_constant__ Job job) {
  const bool in_fits = job.in.fits();
  const unsigned long long contours = in_fits ? job.in.counts->contours : 0;
  const unsigned long long points = job.offsets[contours], capacity = job.out.format.point_capacity;
  const bool fits = in_fits && points <= capacity;
  if (global_thread() == 0) {
    // Where the input did not fit, the output may not seem to fit either.
    const unsigned long long more = max(static_cast<unsigned long long>(job.in.counts->points), capacity + 1);
    *job.out.counts = {in_fits ? points : more, job.in.counts->contours};
    *job.needed = in_fits ? points : 0;
  }
  for (unsigned k = global_thread(); k <= static_cast<unsigned>(job.in.format.classes); k += all_threads())
    job.out.class_begin[k] = fits ? job.in.class_begin[k] : 0;
  for (unsigned long long i = global_thread(); fits && i <= contours; i += all_threads()) {
    job.out.offsets[i] = static_cast<unsigned>(job.offsets[i]);
    if (i == contours) continue;
    job.out.closed[i] = job.in.closed[i];
    copy_attributes(job.in, static_cast<unsigned>(i), job.out, static_cast<unsigned>(i));
  }
}

/// Point `k` of a contour that is divided into `steps`.
__device__ __forceinline__ Point point_of(const Job& job, unsigned contour, unsigned k, unsigned steps) {
  const unsigned begin = job.in.offsets[contour], end = job.in.offsets[contour + 1];
  const unsigned long long length = length_of(job, contour);
  if (k == steps && k > 0) return job.in.points[end - 1];
  if (k == 0 || length == 0) return job.in.points[begin];
  const ContourPlace place = place_of(length, k, steps);
  // The last segment that begins at the place or before it.
  unsigned low = begin, high = end - 1;
  while (high - low > 1) {
    const unsigned middle = low + (high - low) / 2;
    (job.lengths[middle] - job.lengths[begin] <= place.whole ? low : high) = middle;
  }
  return point_on(job.in.points[low], job.in.points[low + 1], job.lengths[low] - job.lengths[begin],
                  job.lengths[low + 1] - job.lengths[begin], place);
}

__global__ void __launch_bounds__(kArrayThreads) write_points(const __grid_constant__ Job job) {
  if (!job.out.fits()) return;
  const unsigned long long points = job.out.counts->points;
  const auto contours = static_cast<unsigned>(job.out.counts->contours);
  for (unsigned long long i = global_thread(); i < points; i += all_threads()) {
    const auto point = static_cast<unsigned>(i);
    const unsigned contour = part_of(job.out.offsets, contours, point), first = job.out.offsets[contour];
    job.out.points[point] = point_of(job, contour, point - first, job.out.offsets[contour + 1] - first - 1);
  }
}

}  // namespace contorno::resample_cuda
