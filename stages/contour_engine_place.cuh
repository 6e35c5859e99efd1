// place_points: one thread a segment writes its end point where it belongs; the first segment of an open
// contour also its start, the largest of a closed one the point at both ends.
//
// Reads   places, points (16 bytes a segment), pieces, head_offset
// Writes  the contours' points (8 bytes a segment); the last block clears the counters for the next frame
#pragma once

#include "stages/contour_engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kPlaceThreads = 256;

template <class P>
__global__ void __launch_bounds__(kPlaceThreads) place_points(const __grid_constant__ Job<P> job) {
  const Work<P>& work = job.work;
  Counters& counters = *work.counters;
  const unsigned segments = job.overflowed(counters) ? 0 : counters.segments;
  const unsigned stride = gridDim.x * kPlaceThreads;
  const unsigned first = blockIdx.x * kPlaceThreads + threadIdx.x;
  const auto put = [&](unsigned offset, unsigned position, unsigned length, const P& point) {
    const unsigned at = offset + (job.reverse != 0 ? length - position : position);
    if (at < job.point_capacity) job.out.points[at] = point;
  };
  for (unsigned i = first; i < segments; i += stride) {
    const uint2 place = work.places[i];
    if (place.x == kNone) continue;
    const P point = work.points[i];
    const PieceInfo piece = work.pieces[place.x];
    if (piece.head == kNone) continue;
    const unsigned offset = work.head_offset[piece.head];
    const unsigned length = piece.length_closed & ~(1U << 31);
    unsigned position = piece.base + place.y;
    if (piece.length_closed >> 31 != 0) {
      if (position >= length) position -= length;
      if (position == 0) put(offset, length, length, point);
      put(offset, position, length, point);
    } else {
      if (piece.first != 0 && place.y == 0) put(offset, 0, length, work.from[place.x]);
      put(offset, position + 1, length, point);
    }
  }
  for (unsigned i = first; i < job.scan_blocks; i += stride) work.scan_status[i] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&counters.finished_blocks, 1U) == gridDim.x - 1) counters = {};
  }
}

}  // namespace contorno::contour_engine
