// The kernels of largest_first. Then PairSort sorts the keys: how many contours there are is known to the
// device alone, so it sorts the whole capacity, and what is unused comes last. ContourOrder comes behind it.
//
//   clear_sums    sets sums to 0
//   add_segments  adds every segment's part to its contour's sum; neither for the number of points
//   make_keys     class and size of every contour as one key; of what is unused, the last key
//   (sort)        stable, so that contours of one size keep their order
#pragma once

#include "stages/contour_prep/largest_first/stage.h"
#include "stages/contour_prep/shared/contour_size.cuh"
#include "stages/contour_prep/shared/placement.cuh"
#include "stages/shared/part_of.cuh"

namespace contorno::largest_first_cuda {

/// One launch's arguments.
struct Job {
  ContoursView in;
  ContourSize by = ContourSize::Area;
  unsigned long long* keys = nullptr;  ///< a contour; before, the sum over its segments
  unsigned long long* sorted_keys = nullptr;
  unsigned *contours = nullptr, *sorted = nullptr;  ///< numbers of contours, in the order of the keys
};

__global__ void __launch_bounds__(kArrayThreads) clear_sums(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  for (unsigned i = global_thread(); i < capacity; i += all_threads()) job.keys[i] = 0;
}

__global__ void __launch_bounds__(kArrayThreads) add_segments(const __grid_constant__ Job job) {
  if (job.in.fits()) add_segment_sizes(job.in, job.by, job.keys);
}

__global__ void __launch_bounds__(kArrayThreads) make_keys(const __grid_constant__ Job job) {
  const auto capacity = static_cast<unsigned>(job.in.format.contour_capacity);
  const unsigned contours = contours_of(job.in);
  constexpr unsigned long long kMost = (1ULL << kSizeBits) - 1;
  for (unsigned i = global_thread(); i < capacity; i += all_threads()) {
    job.contours[i] = i;
    unsigned long long key = ~0ULL;
    if (i < contours) {
      const unsigned points = points_of(job.in, i);
      const unsigned long long sum = job.by == ContourSize::Points ? 0 : job.keys[i];
      const unsigned long long size = size_in_units(job.by, sum, points, job.in.closed[i] != 0);
      const unsigned long long one =
          part_of(job.in.class_begin, static_cast<unsigned>(job.in.format.classes), i);
      key = one << kSizeBits | (kMost - size);
    }
    job.keys[i] = key;
  }
}

}  // namespace contorno::largest_first_cuda
