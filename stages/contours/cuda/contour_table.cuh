// Step 8, number: how a numbered contour is written down, and the totals of all.
//
// Counts of contours and points are kept in one word, contours << 32 | points, so that one sum or one atomic
// gives both: the points of a frame are below 2^32, its contours below 2^31.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

/// Writes offset and closed flag of the contour with head piece `piece`. `before` is (contours << 32 |
/// points) of all contours before it.
template <class P>
__device__ __forceinline__ void write_contour(const PlaneGroup<P>& group, unsigned piece,
                                              unsigned long long before, unsigned closed) {
  const unsigned contour = static_cast<unsigned>(before >> 32);
  const unsigned offset = static_cast<unsigned>(before);
  if (contour < group.contour_capacity) {
    group.out.offsets[contour] = offset;
    group.out.closed[contour] = static_cast<unsigned char>(closed);
  }
  group.work.head_offset[piece] = offset;
}

/// Writes how many contours and points there are, given as (contours << 32 | points), and the entries after
/// the last contour and the last class. Called by one thread.
template <class P>
__device__ void write_totals(const PlaneGroup<P>& group, unsigned long long all) {
  const unsigned long long contours = all >> 32;
  const unsigned long long points = all & 0xFFFFFFFFULL;
  group.out.counts[0] = points;
  group.out.counts[1] = contours;
  if (all == 0)
    for (int plane = 0; plane < group.planes; ++plane) group.out.class_begin[plane] = 0;
  group.out.class_begin[group.planes] = static_cast<unsigned>(contours);
  if (contours <= group.contour_capacity) group.out.offsets[contours] = static_cast<unsigned>(points);
}

/// Writes counts when the workspace was too small: at least as many as were found, and more than fit.
template <class P>
__device__ void write_overflow(const PlaneGroup<P>& group) {
  const Counters& counters = *group.work.counters;
  const unsigned long long points = counters.earlier_segments + counters.segments;
  const unsigned long long contours = counters.earlier_pieces + counters.pieces;
  const bool more = counters.full != 0 || points > group.segment_capacity;
  group.out.counts[0] = more ? max(points, group.point_capacity + 1) : points;
  group.out.counts[1] = contours > group.piece_capacity ? max(contours, group.contour_capacity + 1) : 0;
}

}  // namespace contorno::contour_engine
