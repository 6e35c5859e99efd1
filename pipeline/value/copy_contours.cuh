// The kernel of copy_contours_async (pipeline/value/copy_contours.h): it writes to page-locked host memory,
// because how many points and contours there are is known to the device alone. So the host enqueues the
// download before it knows the numbers, and no byte that is not used is transferred.
#pragma once

#include "cuda/copy_range.cuh"
#include "pipeline/value/copy_contours.h"

namespace contorno {

inline constexpr unsigned kCopyThreads = 256;

/// `to` is a packed_view or packed_counts; see copy_contours_async. All arrays begin at multiples of
/// kAlignment.
__global__ void __launch_bounds__(kCopyThreads)
    copy_contours_that_exist(const __grid_constant__ ContoursView from,
                             const __grid_constant__ ContoursView to) {
  const auto classes = static_cast<unsigned>(from.format.classes) + 1;
  copy_range(to.counts, from.counts, 0, 1);
  copy_range(to.class_begin, from.class_begin, 0, classes);
  if (!from.fits()) return;
  if (to.points != nullptr) {
    copy_range(to.offsets, from.offsets, 0, from.counts->contours + 1);
    copy_range(to.closed, from.closed, 0, from.counts->contours);
    copy_range(to.points, from.points, 0, from.counts->points);
    from.format.attributes.for_each([&](Attribute attribute) {
      copy_range(to.column(attribute), from.column(attribute), 0, from.counts->contours);
    });
    return;
  }
  const unsigned threads = gridDim.x * blockDim.x;
  for (unsigned k = blockIdx.x * blockDim.x + threadIdx.x; k < classes; k += threads)
    to.class_offsets[k] = from.offsets[from.class_begin[k]];
}

}  // namespace contorno
