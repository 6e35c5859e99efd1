// Step 10, export: copies the contours of a frame, and no unused capacity, into page-locked host memory. Only
// the device knows how many there are: a kernel that writes to host memory saves the host a wait for the
// count and a second copy. Each byte is read and written once, and a warp writes whole lines.
#pragma once

#include "stages/contours/cuda/scatter.cuh"

namespace contorno::contour_engine {

inline constexpr int kExportThreads = 256;
inline constexpr unsigned kExportBlocks = 64;
inline constexpr unsigned kExportEach = 4;

/// Copies elements [begin, end) of arrays that are aligned to 16 bytes, with all threads of the grid. It
/// begins at the multiple of 16 bytes at or before `begin`; the elements copied in front of `begin` are from
/// an earlier group of planes and are the same in both arrays.
template <class T>
__device__ __forceinline__ void export_range(T* to, const T* from, unsigned long long begin,
                                             unsigned long long end) {
  const unsigned long long thread = blockIdx.x * kExportThreads + threadIdx.x;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * kExportThreads;
  const unsigned long long wide = end * sizeof(T) / 16;
  for (unsigned long long start = begin * sizeof(T) / 16 + thread; start < wide;
       start += kExportEach * stride) {
    uint4 some[kExportEach];
#pragma unroll
    for (unsigned k = 0; k < kExportEach; ++k)
      if (start + k * stride < wide)
        some[k] = __ldcg(&reinterpret_cast<const uint4*>(from)[start + k * stride]);
#pragma unroll
    for (unsigned k = 0; k < kExportEach; ++k)
      if (start + k * stride < wide) reinterpret_cast<uint4*>(to)[start + k * stride] = some[k];
  }
  const unsigned long long rest = max(begin, wide * 16 / sizeof(T));
  for (unsigned long long i = rest + thread; i < end; i += stride) to[i] = from[i];
}

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
    export_range(to.offsets, from.offsets, first, contours + 1);
    export_range(to.closed, from.closed, first, contours);
    // The part of a group of planes need not be aligned, so its numbers are copied one by one.
    for (int k = static_cast<int>(blockIdx.x * kExportThreads + threadIdx.x); k <= group.planes;
         k += static_cast<int>(gridDim.x) * kExportThreads)
      to.class_begin[k] = from.class_begin[k];
  }
  if (blockIdx.x == 0 && threadIdx.x < 2) to.counts[threadIdx.x] = threadIdx.x == 0 ? points : contours;
  wait_for_previous();
  if (fits) export_range(to.points, from.points, begin, points);
  if (blockIdx.x == 0 && threadIdx.x == 0) reset_counters(group);
}

}  // namespace contorno::contour_engine
