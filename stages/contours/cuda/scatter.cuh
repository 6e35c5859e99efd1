// Step 9, scatter: every point goes to its place in its contour.
//
//   Reads   points (8 bytes a segment), piece_points, pieces, from, head_offset
//   Writes  the contours' points (8 bytes a segment); clears head_points and, if contours are not exported,
//           resets the counters for the next frame or group of planes
//
// A block takes some pieces, a thread each; then its warps share the points of these evenly, however long
// pieces are. The first segment of an open contour also writes the start point, and the largest of a closed
// contour writes its point at both ends. Only here does the direction of contours (Orientation) count.
#pragma once

#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

inline constexpr unsigned kScatterThreads = 512, kScatterWarps = kScatterThreads / 32;
static_assert((kScatterThreads & (kScatterThreads - 1)) == 0);  // WarpPart halves
inline constexpr unsigned kScatterEach = 4;  ///< points of a thread whose loads are in flight together

/// A piece of a block. The block's points are numbered from 0 on, piece after piece: a point's index.
struct alignas(16) ScatterPiece {
  unsigned source;  ///< the point at index i is number source + i of Work::points
  // Where the points go:
  unsigned offset;         ///< where the contour's points begin
  unsigned length_closed;  ///< as in Piece; 0: the contour is left out
  unsigned position;       ///< the point at index i is at position + i in the contour
};

struct ScatterShared {
  ScatterPiece piece[kScatterThreads];
  unsigned before[kScatterThreads];  ///< index of each piece's first point; kNone: there is no piece
  unsigned warp_points[kScatterWarps];
};

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

/// Shares where the points of a block's pieces lie: `count` pieces from `first` on. Returns how many points
/// they have. Called by all threads; ends with a barrier.
template <class P>
__device__ __forceinline__ unsigned share_pieces(const Work<P>& work, ScatterShared& s, unsigned first,
                                                 unsigned count) {
  const unsigned thread = threadIdx.x;
  PiecePoints own{};
  if (thread < count) own = work.piece_points[first + thread];
  unsigned all = 0;
  const unsigned before = sum_before_thread(own.count, s.warp_points, all);
  s.before[thread] = thread < count ? before : kNone;
  s.piece[thread].source = own.begin - before;
  __syncthreads();
  return all;
}

/// Writes the point at `position` in a contour of `length` segments, whose points begin at `offset`.
template <class P>
__device__ __forceinline__ void put_point(const PlaneGroup<P>& group, unsigned offset, unsigned length,
                                          unsigned position, const P& point) {
  const unsigned at = offset + (group.reverse != 0 ? length - position : position);
  if (at < group.point_capacity) group.out.points[at] = point;
}

/// Shares where the points of this thread's piece go, and writes the start point of an open contour that
/// begins with it.
template <class P>
__device__ __forceinline__ void share_target(const PlaneGroup<P>& group, ScatterShared& s, unsigned piece) {
  ScatterPiece& shared = s.piece[threadIdx.x];
  const Piece own = group.work.pieces[piece];
  shared.length_closed = own.head == kNone ? 0 : own.length_closed;
  if (own.head == kNone) return;
  const bool closed = own.length_closed >> 31 != 0;
  const unsigned offset = group.work.head_offset[own.head];
  shared.offset = offset;
  shared.position = own.base + (closed ? 0 : 1) - s.before[threadIdx.x];
  if (!closed && own.first != 0) put_point(group, offset, own.length_closed, 0, group.work.from[piece]);
}

/// The part of a block's points that a warp has, 32 at a time.
struct WarpPart {
  unsigned next, end;  ///< indices: of the next 32 points, and behind the last one
  unsigned begun;      ///< pieces that begin before `next`

  /// The part of this warp, of `count` pieces with `points` points.
  __device__ __forceinline__ WarpPart(const ScatterShared& s, unsigned count, unsigned points) {
    const unsigned rounds = (points + 31) / 32, warp = threadIdx.x / 32;
    next = rounds * warp / kScatterWarps * 32;
    end = min(rounds * (warp + 1) / kScatterWarps * 32, points);
    begun = 0;
    for (unsigned step = kScatterThreads; step > 0; step /= 2)  // to kScatterThreads pieces
      if (begun + step <= count && s.before[begun + step - 1] < next) begun += step;
  }

  /// The piece of this lane's point, of the next 32; and goes on to those behind them. Called by whole warps.
  __device__ __forceinline__ unsigned piece_of_next(const ScatterShared& s) {
    const unsigned lane = threadIdx.x % 32, ahead = begun + lane;
    const unsigned at = ahead < kScatterThreads ? s.before[ahead] - next : kNone;
    const unsigned begins = bits_of_warp(at < 32 ? 1U << at : 0);
    const unsigned piece = begun - 1 + static_cast<unsigned>(__popc(begins & ((2U << lane) - 1)));
    begun += static_cast<unsigned>(__popc(begins));
    next += 32;
    return piece;
  }
};

/// Points of a warp on their way, and their pieces.
template <class P>
struct PointsAtHand {
  unsigned index[kScatterEach], piece[kScatterEach];
  P point[kScatterEach];

  /// Loads the next points of a warp's part.
  __device__ __forceinline__ void load(const Work<P>& work, const ScatterShared& s, WarpPart& part) {
#pragma unroll
    for (unsigned k = 0; k < kScatterEach; ++k) {
      index[k] = kNone;
      if (part.next >= part.end) continue;
      const unsigned own = part.next + threadIdx.x % 32;
      piece[k] = part.piece_of_next(s);
      if (own >= part.end) continue;
      index[k] = own;
      point[k] = work.points[s.piece[piece[k]].source + own];
    }
  }

  /// Writes them.
  __device__ __forceinline__ void put(const PlaneGroup<P>& group, const ScatterShared& s) const {
#pragma unroll
    for (unsigned k = 0; k < kScatterEach; ++k) {
      if (index[k] == kNone) continue;
      const ScatterPiece to = s.piece[piece[k]];
      if (to.length_closed == 0) continue;
      const unsigned length = to.length_closed & ~(1U << 31);
      unsigned position = to.position + index[k];
      if (to.length_closed != length) {
        if (position >= length) position -= length;
        if (position == 0) put_point(group, to.offset, length, length, point[k]);
      }
      put_point(group, to.offset, length, position, point[k]);
    }
  }
};

/// Scatters the points of `count` pieces from `first` on. Called by all threads of a block; `ready` waits
/// until contours are numbered.
template <class P, class Ready>
__device__ __forceinline__ void scatter_pieces(const PlaneGroup<P>& group, ScatterShared& s, unsigned first,
                                               unsigned count, const Ready& ready) {
  const unsigned points = share_pieces(group.work, s, first, count);
  WarpPart part(s, count, points);
  PointsAtHand<P> hand;
  hand.load(group.work, s, part);
  ready();
  if (threadIdx.x < count) share_target(group, s, first + threadIdx.x);
  __syncthreads();
  // A lane may lack a point only among the last 32, so all lanes go the same way.
  while (__any_sync(~0U, hand.index[0] != kNone ? 1 : 0) != 0) {
    PointsAtHand<P> next;
    next.load(group.work, s, part);
    hand.put(group, s);
    hand = next;
  }
  __syncthreads();
}

template <class P>
__global__ void __launch_bounds__(kScatterThreads)
    scatter_points(const __grid_constant__ PlaneGroup<P> group) {
  const Work<P>& work = group.work;
  Counters& counters = *work.counters;
  // Tracing was over when the kernel before this one let it begin.
  const unsigned pieces = group.overflowed(counters) ? 0 : counters.pieces;
  const unsigned each = min((pieces + gridDim.x - 1) / gridDim.x, kScatterThreads);
  const auto ready = [] {
    wait_for_previous();
    let_next_begin();  // export_contours, which finds the contours numbered
  };
  for (unsigned from = blockIdx.x * each; from < pieces; from += gridDim.x * each)
    scatter_pieces(group, block_shared<ScatterShared>(), from, min(each, pieces - from), ready);
  ready();
  const unsigned first = blockIdx.x * kScatterThreads + threadIdx.x, stride = gridDim.x * kScatterThreads;
  const unsigned allocated = min(counters.pieces, group.piece_capacity);
  for (unsigned i = first; i < allocated; i += stride) work.head_points[i] = 0;
  for (unsigned i = first; i < group.scan_blocks; i += stride) work.scan_status[i] = 0;
  if (group.exported != 0) return;  // export_contours does it
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&counters.finished_blocks, 1U) == gridDim.x - 1) reset_counters(group);
  }
}

}  // namespace contorno::contour_engine
