// Step 9, scatter: every point goes to its place in its contour.
//
//   Reads   points and point_pieces (12 bytes a segment), pieces, piece_begin, head_offset
//   Writes  the contours' points (8 bytes a segment); clears head_points and, if contours are not exported,
//           resets the counters for the next frame or group of planes
//
// A thread writes the end points of segments. The first segment of an open contour also writes the start
// point, and the largest of a closed contour writes its point at both ends. Only here does the direction of
// contours (Orientation) count.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kScatterThreads = 512;
inline constexpr unsigned kScatterEach = 4;  ///< segments at a time, so that their chains of loads overlap

/// Resets the counters for the next group of planes or the next frame. Called by one thread, when all points
/// are scattered.
template <class P>
__device__ __forceinline__ void reset_counters(const PlaneGroup<P>& group) {
  Counters& counters = *group.work.counters;
  counters = group.last_planes != 0
                 ? Counters{}
                 : Counters{.earlier_segments = counters.earlier_segments + counters.segments,
                            .earlier_pieces = counters.earlier_pieces + counters.pieces,
                            .full = counters.full,
                            .numbered = group.out.counts[1] << 32 | group.out.counts[0]};
}

/// Points of segments on their way, and their pieces.
template <class P>
struct PointsAtHand {
  unsigned piece[kScatterEach];
  P point[kScatterEach];

  /// Loads those of the segments `start`, `start + stride` and so on.
  __device__ __forceinline__ void load(const Work<P>& work, unsigned segments, unsigned start,
                                       unsigned stride) {
#pragma unroll
    for (unsigned k = 0; k < kScatterEach; ++k) {
      const unsigned i = start + k * stride;
      piece[k] = i < segments ? work.point_pieces[i] : kNone;
      if (piece[k] != kNone) point[k] = work.points[i];
    }
  }
};

/// Writes the point of segment number `rank` of `piece`, whose contour begins at point `offset`. `from`: the
/// piece's first point.
template <class P>
__device__ __forceinline__ void put_points(const PlaneGroup<P>& group, const Piece& piece, unsigned offset,
                                           unsigned rank, const P& point, const P& from) {
  const unsigned length = piece.length_closed & ~(1U << 31);
  const auto put = [&](unsigned position, const P& value) {
    const unsigned at = offset + (group.reverse != 0 ? length - position : position);
    if (at < group.point_capacity) group.out.points[at] = value;
  };
  unsigned position = piece.base + rank;
  if (piece.length_closed >> 31 != 0) {
    if (position >= length) position -= length;
    if (position == 0) put(length, point);
    put(position, point);
  } else {
    if (piece.first != 0 && rank == 0) put(0, from);
    put(position + 1, point);
  }
}

/// Scatters the points at hand, which `load` was given `start` and `stride` for.
template <class P>
__device__ __forceinline__ void scatter(const PlaneGroup<P>& group, const PointsAtHand<P>& hand,
                                        unsigned start, unsigned stride) {
  const Work<P>& work = group.work;
  Piece piece[kScatterEach];
  unsigned offset[kScatterEach], begin[kScatterEach];
#pragma unroll
  for (unsigned k = 0; k < kScatterEach; ++k) {
    piece[k].head = kNone;
    if (hand.piece[k] == kNone) continue;
    piece[k] = work.pieces[hand.piece[k]];
    begin[k] = work.piece_begin[hand.piece[k]];
  }
#pragma unroll
  for (unsigned k = 0; k < kScatterEach; ++k)
    if (piece[k].head != kNone) offset[k] = work.head_offset[piece[k].head];
#pragma unroll
  for (unsigned k = 0; k < kScatterEach; ++k)
    if (piece[k].head != kNone)
      put_points(group, piece[k], offset[k], start + k * stride - begin[k], hand.point[k],
                 work.from[hand.piece[k]]);
}

template <class P>
__global__ void __launch_bounds__(kScatterThreads)
    scatter_points(const __grid_constant__ PlaneGroup<P> group) {
  const Work<P>& work = group.work;
  Counters& counters = *work.counters;
  const unsigned segments = group.overflowed(counters) ? 0 : counters.segments;
  const unsigned stride = gridDim.x * kScatterThreads;
  const unsigned first = blockIdx.x * kScatterThreads + threadIdx.x;
  // Tracing was over when the kernel before this one let it begin.
  PointsAtHand<P> hand;
  hand.load(work, segments, first, stride);
  wait_for_previous();
  let_next_begin();  // export_contours, which finds the contours numbered
  for (unsigned start = first; start < segments; start += kScatterEach * stride) {
    PointsAtHand<P> next;
    next.load(work, segments, start + kScatterEach * stride, stride);
    scatter(group, hand, start, stride);
    hand = next;
  }
  const unsigned pieces = min(counters.pieces, group.piece_capacity);
  for (unsigned i = first; i < pieces; i += stride) work.head_points[i] = 0;
  for (unsigned i = first; i < group.scan_blocks; i += stride) work.scan_status[i] = 0;
  if (group.exported != 0) return;  // export_contours does it
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&counters.finished_blocks, 1U) == gridDim.x - 1) reset_counters(group);
  }
}

}  // namespace contorno::contour_engine
