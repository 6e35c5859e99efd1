// Step 8, number, where a channel has several levels. There are few contours compared with the rows of all
// near tiles, so contours are listed by strips. A strip is some rows of cells of a plane.
//
//   Reads   first raster ids of head pieces, head_points, head_offset (their planes), levels
//   Writes  heads, strip_first, strips, status; then offsets, closed, class_begin, counts, levels,
//           channel_begin, head_offset
//
// A scan over strips tells how many contours and points come before each. Then every contour compares itself
// with the others of its strip.
#pragma once

#include "stages/contours/cuda/chunk_scan.cuh"
#include "stages/contours/cuda/contour_table.cuh"

namespace contorno::contour_engine {

inline constexpr int kStripThreads = 256;
inline constexpr unsigned kStripsEach = 4;  ///< strips of a thread of scan_strips, one after the other
inline constexpr unsigned kChunk = kScanThreads * kStripsEach;

/// Strips of all planes.
template <class P>
CONTORNO_HD unsigned strip_count(const PlaneGroup<P>& group) {
  return static_cast<unsigned>(group.planes) * group.work.near.plane_strips;
}
template <class P>
CONTORNO_HD unsigned strip_chunks(const PlaneGroup<P>& group) {
  return (strip_count(group) + kChunk - 1) / kChunk;
}

/// Lists a contour: its head piece, that piece's smallest raster id, and its points (top bit: closed).
template <class P>
__device__ __forceinline__ void list_head(const PlaneGroup<P>& group, unsigned piece, unsigned first_id,
                                          unsigned points_closed) {
  const NearTiles& near = group.work.near;
  const unsigned row = first_id / 2 / static_cast<unsigned>(group.cell_columns);
  const unsigned strip =
      group.work.head_offset[piece] * near.plane_strips + row / static_cast<unsigned>(near.strip_rows);
  atomicAdd(&near.strips[strip], 1ULL << 32 | (points_closed & ~(1U << 31)));
  const unsigned at = atomicAdd(&group.work.counters->strip_heads, 1U);
  if (at < near.head_capacity)
    near.heads[at] = {first_id, piece, strip, atomicExch(&near.strip_first[strip], at)};
}

/// Whether all contours are listed.
template <class P>
__device__ __forceinline__ bool has_all_heads(const PlaneGroup<P>& group) {
  const Counters& counters = *group.work.counters;
  return !group.overflowed(counters) && counters.strip_heads <= group.work.near.head_capacity;
}

/// Writes with which contour a plane begins, and with it maybe a channel.
template <class P>
__device__ __forceinline__ void write_plane_begin(const PlaneGroup<P>& group, unsigned plane,
                                                  unsigned contour) {
  group.out.class_begin[plane] = contour;
  const unsigned channel = group.work.near.levels[plane].channel_begin;
  if (group.out.channel_begin != nullptr && channel != kNone) group.out.channel_begin[channel] = contour;
}

/// Finds what comes before each strip and each plane, and the totals. Called by as many blocks as fit, when
/// all contours are counted.
template <class P>
__global__ void __launch_bounds__(kScanThreads) scan_strips(const __grid_constant__ PlaneGroup<P> group) {
  wait_for_previous();
  let_next_begin();
  ChunkShared& s = block_shared<ChunkShared>();
  Counters& counters = *group.work.counters;
  if (group.overflowed(counters)) return;
  const NearTiles& near = group.work.near;
  const unsigned strips = strip_count(group), chunks = strip_chunks(group);
  for (unsigned chunk; (chunk = take_chunk(&counters.strip_chunks, s)) < chunks;) {
    const unsigned first = chunk * kChunk + threadIdx.x * kStripsEach;
    unsigned long long sums[kStripsEach] = {};
    unsigned long long own = 0;
#pragma unroll
    for (unsigned k = 0; k < kStripsEach; ++k) {
      if (first + k < strips) sums[k] = near.strips[first + k];
      own += sums[k];
    }
    unsigned long long before = counters.numbered + scan_chunk(near.status, chunk, own, s);
#pragma unroll
    for (unsigned k = 0; k < kStripsEach; ++k) {
      const unsigned strip = first + k;
      if (strip >= strips) break;
      near.strips[strip] = before;
      if (strip % near.plane_strips == 0)
        write_plane_begin(group, strip / near.plane_strips, static_cast<unsigned>(before >> 32));
      before += sums[k];
      if (strip + 1 != strips) continue;
      near.strips[strips] = before;
      write_totals(group, before);
      if (group.out.channel_begin != nullptr)
        group.out.channel_begin[near.channels] = static_cast<unsigned>(before >> 32);
    }
  }
}

/// (contours << 32 | points) of the contours that come before this one in its strip.
template <class P>
__device__ __forceinline__ unsigned long long before_in_strip(const PlaneGroup<P>& group,
                                                              const StripHead& own) {
  const NearTiles& near = group.work.near;
  unsigned long long before = 0;
  for (unsigned k = near.strip_first[own.strip]; k != kNone;) {
    const StripHead other = near.heads[k];
    if (other.first_id < own.first_id)
      before += 1ULL << 32 | (group.work.head_points[other.piece] & ~(1U << 31));
    k = other.next;
  }
  return before;
}

/// Numbers the contours.
template <class P>
__global__ void __launch_bounds__(kStripThreads) number_levels(const __grid_constant__ PlaneGroup<P> group) {
  let_next_begin();
  // All contours were listed when scan_strips let this kernel begin; that one still adds up strips.
  const NearTiles& near = group.work.near;
  const unsigned count = has_all_heads(group) ? group.work.counters->strip_heads : 0;
  for (unsigned i = blockIdx.x * kStripThreads + threadIdx.x; i < count; i += gridDim.x * kStripThreads) {
    const StripHead own = near.heads[i];
    unsigned long long before = before_in_strip(group, own);
    const unsigned closed = group.work.head_points[own.piece] >> 31;
    wait_for_previous();
    before += near.strips[own.strip];
    write_contour(group, own.piece, before, closed);
    const auto contour = static_cast<unsigned>(before >> 32);
    if (group.out.levels != nullptr && contour < group.contour_capacity)
      group.out.levels[contour] = near.levels[own.strip / near.plane_strips].plane_level;
  }
  wait_for_previous();  // so that scan_strips has ended, too, when this kernel has
}

}  // namespace contorno::contour_engine
