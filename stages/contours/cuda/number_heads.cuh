// heads: numbers contours without a scan where they are few. The head of a contour is its first segment in
// raster order; a contour's number is how many contours have smaller heads. Also here: writing down a
// numbered contour, and the totals of all.
//
//   Reads   heads, chains, pieces and head_points of closed pieces
//   Writes  offsets, closed, class_begin, counts, head_offset
#pragma once

#include "stages/contours/cuda/join.cuh"

namespace contorno::contour_engine {

/// Writes offset and closed flag of the contour with head piece `piece`. `before` is (contours << 32 |
/// points) of all contours before it.
template <class P>
__device__ __forceinline__ void write_contour(const Job<P>& job, unsigned piece, unsigned long long before,
                                              unsigned closed) {
  const unsigned contour = static_cast<unsigned>(before >> 32);
  const unsigned offset = static_cast<unsigned>(before);
  if (contour < job.contour_capacity) {
    job.out.offsets[contour] = offset;
    job.out.closed[contour] = static_cast<unsigned char>(closed);
  }
  job.work.head_offset[piece] = offset;
}

/// Writes how many contours and points there are, given as (contours << 32 | points), and the entries after
/// the last contour and the last class. Called by one thread.
template <class P>
__device__ void write_totals(const Job<P>& job, unsigned long long all) {
  const unsigned long long contours = all >> 32;
  const unsigned long long points = all & 0xFFFFFFFFULL;
  job.out.counts[0] = points;
  job.out.counts[1] = contours;
  if (all == 0)
    for (int plane = 0; plane < job.planes; ++plane) job.out.class_begin[plane] = 0;
  job.out.class_begin[job.planes] = static_cast<unsigned>(contours);
  if (contours <= job.contour_capacity) job.out.offsets[contours] = static_cast<unsigned>(points);
}

/// Writes counts when the workspace was too small: at least as many as were found, and more than fit.
template <class P>
__device__ void write_overflow(const Job<P>& job) {
  const Counters& counters = *job.work.counters;
  const unsigned long long points = counters.earlier_segments + counters.segments;
  const unsigned long long contours = counters.earlier_pieces + counters.pieces;
  job.out.counts[0] = points > job.segment_capacity ? max(points, job.point_capacity + 1) : points;
  job.out.counts[1] = contours > job.piece_capacity ? max(contours, job.contour_capacity + 1) : 0;
}

inline constexpr unsigned kHeadsEach = 4;  ///< heads that a warp numbers at a time

/// Whether all contours are listed in `heads`, so that number_by_heads can number them. `listed` is
/// counters.heads after join_pieces.
template <class P>
__device__ __forceinline__ bool are_few(const Job<P>& job, unsigned listed) {
  const Counters& counters = *job.work.counters;
  return counters.pieces - counters.active <= job.few_heads && listed <= job.few_heads;
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
__device__ __forceinline__ Head load_head(const Job<P>& job, unsigned h) {
  const Work<P>& work = job.work;
  const unsigned head = work.heads[h];
  if ((head & kClosedPiece) != 0) {
    const unsigned piece = head & ~kClosedPiece;
    return {work.pieces[piece].first, work.head_points[piece]};
  }
  const Chain& chain = work.chains[head];
  const unsigned segments = chain.far + chain.count;
  if (!keep_contour(segments, job.min_points)) return {kNone, 0};
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
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2) before[k] += __shfl_xor_sync(~0U, before[k], mask);
    if (lane == k) own = before[k];
  }
  return own;
}

/// Numbers `heads` contours, at most kMostHeads. Called by `blocks` blocks, of which this one is number
/// `block`.
template <class P, unsigned kThreads>
__device__ void number_by_heads(const Job<P>& job, unsigned heads, unsigned block, unsigned blocks,
                                HeadsShared& s) {
  // What comes before each head is asked for, before each plane and before the end.
  const auto planes = static_cast<unsigned>(job.planes);
  const unsigned asked = heads + planes + 1;
  const unsigned plane_ids =
      2U * static_cast<unsigned>(job.cell_rows) * static_cast<unsigned>(job.cell_columns);
  constexpr unsigned kEach = kThreads / 32 * kHeadsEach;
  if (block * kEach >= asked) return;
  for (unsigned h = threadIdx.x; h < heads; h += kThreads) s.heads[h] = load_head(job, h);
  __syncthreads();
  const unsigned lane = threadIdx.x % 32;
  for (unsigned first = block * kEach; first < asked; first += blocks * kEach) {
    const unsigned own = first + threadIdx.x / 32 * kHeadsEach + lane;
    const bool asks = lane < kHeadsEach && own < asked;
    Head head{};
    unsigned piece = 0;
    if (asks && own < heads) {
      head = s.heads[own];
      piece = piece_of_head(job.work, own);
    } else if (asks) {
      head.first_id = (own - heads) * plane_ids;
    }
    const unsigned long long before = job.work.counters->numbered + sum_before(s, heads, head.first_id);
    if (!asks || head.first_id == kNone) continue;
    if (own < heads)
      write_contour(job, piece, before, head.points_closed >> 31);
    else if (own < heads + planes)
      job.out.class_begin[own - heads] = static_cast<unsigned>(before >> 32);
    else
      write_totals(job, before);
  }
}

}  // namespace contorno::contour_engine
