// Several levels of a channel: what the classes of a graph know of them. The engine numbers contours by
// planes, which are channels at a level.
//
//   Reads   where planes begin
//   Writes  the level of each contour
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kColumnThreads = 256;

/// Writes the level of each contour of the group's planes to `column`. Called when these are numbered.
template <class P>
__global__ void __launch_bounds__(kColumnThreads)
    write_levels(const __grid_constant__ PlaneGroup<P> group, double* column) {
  // Where the workspace was too small it is not known where planes begin.
  if (group.out.counts[0] > group.point_capacity || group.out.counts[1] > group.contour_capacity) return;
  const unsigned* const begin = group.out.class_begin;
  const unsigned end = begin[group.planes];
  for (unsigned i = begin[0] + blockIdx.x * kColumnThreads + threadIdx.x; i < end;
       i += gridDim.x * kColumnThreads) {
    int low = 0, above = group.planes;  // the last plane that begins at or before the contour
    while (above - low > 1) {
      const int middle = (low + above) / 2;
      if (begin[middle] <= i)
        low = middle;
      else
        above = middle;
    }
    column[i] = group.level_of(low).level;
  }
}

}  // namespace contorno::contour_engine
