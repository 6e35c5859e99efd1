// Step 8, number, for few contours: without a scan.
//
//   Reads   heads, chains, pieces and head_points of closed pieces
//   Writes  offsets, closed, class_begin, counts, head_offset
//
// The head of a contour is its first segment in raster order. A contour's number is how many contours have
// smaller heads, and its offset is how many points these have: each contour compares itself with all others,
// which takes fewer steps than a scan over all rows of all tiles while contours are few.
#pragma once

#include "cuda/sums.cuh"
#include "stages/contours/cuda/contour_table.cuh"
#include "stages/contours/cuda/join.cuh"

namespace contorno::contour_engine {

inline constexpr unsigned kHeadsEach = 4;  ///< contours that a warp numbers at a time

/// Whether all contours are listed in `heads`, so that number_by_heads can number them. `listed` is
/// counters.heads after join_pieces.
template <class P>
__device__ __forceinline__ bool are_few(const PlaneGroup<P>& group, unsigned listed) {
  const Counters& counters = *group.work.counters;
  return counters.pieces - counters.open_pieces <= group.few_heads && listed <= group.few_heads;
}

/// A contour that is to be numbered.
struct Head {
  unsigned first_id;       ///< raster id; kNone: dropped
  unsigned points_closed;  ///< number of points, top bit: closed
};

struct HeadsShared {
  Head heads[kMostHeads];
};

template <class P>
__device__ __forceinline__ Head load_head(const PlaneGroup<P>& group, unsigned h) {
  const Work<P>& work = group.work;
  const unsigned head = work.heads[h];
  if ((head & kClosedPiece) != 0) {
    const unsigned piece = head & ~kClosedPiece;
    return {work.pieces[piece].first, work.head_points[piece]};
  }
  const Chain& chain = work.chains[head];
  const unsigned segments = chain.farthest + chain.count;
  if (!keep_contour(segments, group.min_points)) return {kNone, 0};
  return {static_cast<unsigned>(chain.first >> 32), points_of(segments) | (chain.last != 0 ? 1U << 31 : 0U)};
}
template <class P>
__device__ __forceinline__ unsigned piece_of_head(const Work<P>& work, unsigned h) {
  const unsigned head = work.heads[h];
  return (head & kClosedPiece) != 0 ? head & ~kClosedPiece : static_cast<unsigned>(work.chains[head].first);
}

/// Each of the first kHeadsEach lanes of a warp asks for a raster id and gets (contours << 32 | points) of
/// all heads with smaller ids.
__device__ __forceinline__ unsigned long long sum_before(const HeadsShared& s, unsigned heads,
                                                         unsigned asked_id) {
  const unsigned lane = threadIdx.x % 32;
  unsigned id[kHeadsEach];
  unsigned long long before[kHeadsEach] = {};
#pragma unroll
  for (unsigned k = 0; k < kHeadsEach; ++k) id[k] = __shfl_sync(~0U, asked_id, static_cast<int>(k));
  for (unsigned h = lane; h < heads; h += 32) {
    const Head head = s.heads[h];
    const unsigned long long contour = 1ULL << 32 | (head.points_closed & ~(1U << 31));
#pragma unroll
    for (unsigned k = 0; k < kHeadsEach; ++k)
      if (head.first_id < id[k]) before[k] += contour;
  }
  unsigned long long own = 0;
#pragma unroll
  for (unsigned k = 0; k < kHeadsEach; ++k) {
    const unsigned long long sum = sum_of_warp(before[k]);
    if (lane == k) own = sum;
  }
  return own;
}

/// Numbers `heads` contours, at most kMostHeads. Called by `blocks` blocks, of which this one is number
/// `block`.
template <class P, unsigned kThreads>
__device__ void number_by_heads(const PlaneGroup<P>& group, unsigned heads, unsigned block, unsigned blocks,
                                HeadsShared& s) {
  // It is asked what comes before each head, before each plane and before the end.
  const auto planes = static_cast<unsigned>(group.planes);
  const unsigned asked = heads + planes + 1;
  const unsigned plane_ids =
      2U * static_cast<unsigned>(group.cell_rows) * static_cast<unsigned>(group.cell_columns);
  constexpr unsigned kEach = kThreads / 32 * kHeadsEach;
  if (block * kEach >= asked) return;
  for (unsigned h = threadIdx.x; h < heads; h += kThreads) s.heads[h] = load_head(group, h);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for (unsigned first = block * kEach; first < asked; first += blocks * kEach) {
    const unsigned own = first + threadIdx.x / 32 * kHeadsEach + lane;
    const bool asks = lane < kHeadsEach && own < asked;
    Head head{};
    unsigned piece = 0;
    if (asks && own < heads) {
      head = s.heads[own];
      piece = piece_of_head(group.work, own);
    } else if (asks) {
      head.first_id = (own - heads) * plane_ids;
    }
    const unsigned long long before = group.work.counters->numbered + sum_before(s, heads, head.first_id);
    if (!asks || head.first_id == kNone) continue;
    if (own < heads)
      write_contour(group, piece, before, head.points_closed >> 31);
    else if (own < heads + planes)
      group.out.class_begin[own - heads] = static_cast<unsigned>(before >> 32);
    else
      write_totals(group, before);
  }
}

}  // namespace contorno::contour_engine
