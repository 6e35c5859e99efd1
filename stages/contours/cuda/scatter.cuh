// place_points: each thread writes the end points of segments to their places in the contours. The first
// segment of an open contour also writes its start point, and the largest of a closed contour writes its
// point at both ends.
//
//   Reads   places, points (16 bytes a segment), pieces, head_offset
//   Writes  the contours' points (8 bytes a segment); clears head_points and, if contours are not exported,
//           resets the counters for the next frame or group of planes
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kPlaceThreads = 512;
inline constexpr unsigned kPlaceEach = 4;

/// Resets the counters for the next group of planes or the next frame. Called by one thread, when all points
/// are placed.
template <class P>
__device__ __forceinline__ void begin_anew(const Job<P>& job) {
  Counters& counters = *job.work.counters;
  counters = job.last_planes != 0
                 ? Counters{}
                 : Counters{.earlier_segments = counters.earlier_segments + counters.segments,
                            .earlier_pieces = counters.earlier_pieces + counters.pieces,
                            .numbered = job.out.counts[1] << 32 | job.out.counts[0]};
}

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
  // Four segments at a time, so that their chains of loads overlap.
  uint2 place[kPlaceEach];
  P point[kPlaceEach];
  const auto load = [&](unsigned start) {
#pragma unroll
    for (unsigned k = 0; k < kPlaceEach; ++k) {
      const unsigned i = start + k * stride;
      place[k] = i < segments ? work.places[i] : uint2{kNone, 0};
      if (place[k].x != kNone) point[k] = work.points[i];
    }
  };
  // Tracing was over when the kernel before this one let it begin.
  load(first);
  wait_for_previous();
  let_next_begin();  // export_contours, which finds the contours numbered
  for (unsigned start = first; start < segments; start += kPlaceEach * stride) {
    if (start != first) load(start);
    PieceInfo piece[kPlaceEach];
    unsigned offset[kPlaceEach];
#pragma unroll
    for (unsigned k = 0; k < kPlaceEach; ++k) {
      piece[k].head = kNone;
      if (place[k].x != kNone) piece[k] = work.pieces[place[k].x];
    }
#pragma unroll
    for (unsigned k = 0; k < kPlaceEach; ++k)
      if (piece[k].head != kNone) offset[k] = work.head_offset[piece[k].head];
#pragma unroll
    for (unsigned k = 0; k < kPlaceEach; ++k) {
      if (piece[k].head == kNone) continue;
      const unsigned length = piece[k].length_closed & ~(1U << 31);
      unsigned position = piece[k].base + place[k].y;
      if (piece[k].length_closed >> 31 != 0) {
        if (position >= length) position -= length;
        if (position == 0) put(offset[k], length, length, point[k]);
        put(offset[k], position, length, point[k]);
      } else {
        if (piece[k].first != 0 && place[k].y == 0) put(offset[k], 0, length, work.from[place[k].x]);
        put(offset[k], position + 1, length, point[k]);
      }
    }
  }
  const unsigned pieces = min(counters.pieces, job.piece_capacity);
  for (unsigned i = first; i < pieces; i += stride) work.head_points[i] = 0;
  for (unsigned i = first; i < job.scan_blocks; i += stride) work.scan_status[i] = 0;
  if (job.exported != 0) return;  // export_contours does it
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&counters.finished_blocks, 1U) == gridDim.x - 1) begin_anew(job);
  }
}

}  // namespace contorno::contour_engine
