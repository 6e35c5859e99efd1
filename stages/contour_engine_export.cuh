// export_contours: copies what exists of a frame's contours, and no more, into page-locked host memory. The
// number is known on the device only; a kernel that writes across the bus saves the host a wait and a second
// copy. Reads and writes the bytes that exist once; a warp writes whole lines.
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kExportThreads = 256;
inline constexpr unsigned kExportBlocks = 32;

/// Copies `bytes` (both sides aligned to 16) with all threads of the grid.
__device__ __forceinline__ void export_bytes(void* to, const void* from, unsigned long long bytes) {
  const unsigned long long first = blockIdx.x * kExportThreads + threadIdx.x;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * kExportThreads;
  const unsigned long long wide = bytes / 16;
  for (unsigned long long i = first; i < wide; i += stride)
    static_cast<uint4*>(to)[i] = static_cast<const uint4*>(from)[i];
  for (unsigned long long i = wide * 16 + first; i < bytes; i += stride)
    static_cast<unsigned char*>(to)[i] = static_cast<const unsigned char*>(from)[i];
}

template <class P>
__global__ void __launch_bounds__(kExportThreads)
    export_contours(Output<P> from, Output<P> to, unsigned classes, unsigned long long point_capacity,
                    unsigned long long contour_capacity) {
  let_next_begin();
  wait_for_previous();
  const unsigned long long points = from.counts[0];
  const unsigned long long contours = from.counts[1];
  if (points <= point_capacity && contours <= contour_capacity) {
    export_bytes(to.points, from.points, points * sizeof(P));
    export_bytes(to.offsets, from.offsets, (contours + 1) * sizeof(unsigned));
    export_bytes(to.closed, from.closed, contours);
    export_bytes(to.class_begin, from.class_begin, (classes + 1) * sizeof(unsigned));
  }
  if (blockIdx.x == 0 && threadIdx.x < 2) to.counts[threadIdx.x] = from.counts[threadIdx.x];
}

}  // namespace contorno::contour_engine
