// Step 4 of a tile, link: which segment follows each segment.
//
//   Reads   segment, TileBits
//   Writes  links (of one step), flags
//
// A segment is followed by the one that begins on the grid edge where it ends, in the cell beyond that edge;
// its index follows from the bits of that cell. Where a crossing falls on a sample this is not so: tiles in
// which that may happen are linked by link_exact.cuh.
#pragma once

#include "stages/contours/cuda/list.cuh"

namespace contorno::contour_engine {

/// Index of the segment that begins on the edge where `segment` (packed) ends; kNone if the cell beyond the
/// edge is in another tile or not crossed.
template <class S>
__device__ __forceinline__ unsigned next_over_edge(const Tile<S>& tile, unsigned segment) {
  const int to = static_cast<int>(segment >> 14);
  const int cell = static_cast<int>(segment & (kTileRows * kTileColumns - 1));
  const int next = cell + ((to & 1) != 0 ? 2 - to : (to - 1) * kTileColumns);
  const bool inside = (to & 1) != 0 ? next / kTileColumns == cell / kTileColumns && next >= 0
                                    : next >= 0 && next < kTileRows * kTileColumns;
  if (!inside) return kNone;
  const CellWords cells = tile.shared.bits.cells[next / 32];
  const unsigned bit = 1U << (next % 32);
  if ((cells.crossed & bit) == 0) return kNone;
  const unsigned sub =
      (cells.saddle & bit) != 0 ? saddle_segment_from(opposite(to), tile.group.connectivity()) : 0;
  return index_in_word(tile, next / 32, cells, bit) + sub;
}

/// The link of segment `index` to the one that follows it; kNone: it is the last of an open piece.
template <class Links>
__device__ __forceinline__ typename Links::Word link_of_one(unsigned index, unsigned next) {
  return Links::pack({next == kNone ? 0 : next, next == kNone ? index + Links::kOpenEnd : index, 0});
}
template <class S>
__device__ __forceinline__ void set_next(Tile<S>& tile, unsigned index, unsigned next) {
  tile.shared.links.word[index] = link_of_one<typename S::Links>(index, next);
}

/// Links a tile in which no crossing falls on a sample. Ends with a barrier.
template <class S>
__device__ __forceinline__ void link_over_edges(Tile<S>& tile) {
#pragma unroll 1
  for (int i = tile.thread; i < tile.segments; i += S::kThreads) {
    const unsigned next = next_over_edge(tile, tile.shared.segment[i]);
    if (next != kNone) tile.shared.flags[next] = kHasPrevious;
    set_next(tile, static_cast<unsigned>(i), next);
  }
  tile.sync();
}

}  // namespace contorno::contour_engine
