// Step 10, export: copies the contours of a frame, and no unused capacity, into page-locked host memory. Only
// the device knows how many there are: a kernel that writes to host memory saves the host a wait for the
// count and a second copy. Each byte is read and written once, and a warp writes whole lines.
#pragma once

#include "cuda/copy_range.cuh"
#include "stages/contours/cuda/scatter.cuh"

namespace contorno::contour_engine {

inline constexpr int kExportThreads = 256;
inline constexpr unsigned kExportBlocks = 64;

/// Copies the contours of one group's planes, and the counts of all planes so far. It is the last kernel of
/// these planes.
template <class P>
__global__ void __launch_bounds__(kExportThreads)
    export_contours(const __grid_constant__ PlaneGroup<P> group, Output<P> to) {
  let_next_begin();
  // The numbering was over when scatter_points let this kernel begin: only points are still being written.
  const Output<P>& from = group.out;
  const unsigned long long points = __ldcg(&from.counts[0]);
  const unsigned long long contours = __ldcg(&from.counts[1]);
  const bool fits = points <= group.point_capacity && contours <= group.contour_capacity;
  unsigned begin = 0;
  if (fits) {
    const unsigned first = __ldcg(&from.class_begin[0]);
    if (first != 0) begin = __ldcg(&from.offsets[first]);
    copy_range(to.offsets, from.offsets, first, contours + 1);
    copy_range(to.closed, from.closed, first, contours);
    // The part of a group of planes need not be aligned, so its numbers are copied one by one.
    for (int k = static_cast<int>(blockIdx.x * kExportThreads + threadIdx.x); k <= group.planes;
         k += static_cast<int>(gridDim.x) * kExportThreads)
      to.class_begin[k] = from.class_begin[k];
  }
  if (blockIdx.x == 0 && threadIdx.x < 2) to.counts[threadIdx.x] = threadIdx.x == 0 ? points : contours;
  wait_for_previous();
  if (fits) copy_range(to.points, from.points, begin, points);
  if (blockIdx.x == 0 && threadIdx.x == 0) reset_counters(group);
}

}  // namespace contorno::contour_engine
