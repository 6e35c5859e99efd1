// Step 3 of a tile, list: its segments in raster order.
//
//   Reads   TileBits
//   Writes  before, segment; clears flags, open, closed, placed
//
// A segment's index is how many segments the cells before its own have, by a scan over words of 32 cells and
// by counting bits inside a word. So a segment's index follows from its cell, and later steps need no table
// from cells to segments.
#pragma once

#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

/// The first warp counts the segments before each word of cells. Ends with a barrier; returns how many the
/// tile has.
template <class S>
__device__ int count_segments(Tile<S>& tile) {
  auto& s = tile.shared;
  if (tile.thread < 32) {
    const CellWords left = s.bits.cells[2 * tile.thread];
    const CellWords right = s.bits.cells[2 * tile.thread + 1];
    const unsigned in_left = segments_in(left);
    const unsigned in_right = segments_in(right);
    const unsigned sum = sum_to_lane(in_left + in_right);
    s.before[2 * tile.thread] = static_cast<unsigned short>(sum - in_right - in_left);
    s.before[2 * tile.thread + 1] = static_cast<unsigned short>(sum - in_right);
    if (tile.thread == 31) s.before[kTileWords] = static_cast<unsigned short>(sum);
  }
  if (tile.thread == 0) s.open = s.closed = s.placed = 0;
  tile.sync();
  tile.segments = s.before[kTileWords];
  return tile.segments;
}

/// Index of the first segment of the cell `bit` in word `word`.
template <class S>
__device__ __forceinline__ unsigned index_in_word(const Tile<S>& tile, int word, const CellWords& cells,
                                                  unsigned bit) {
  return tile.shared.before[word] + segments_in(cells, bit - 1);
}

/// The cell (bit) of the n-th segment, from 0, of a word of cells.
__device__ __forceinline__ int cell_of_segment(const CellWords& cells, unsigned n) {
  int cell = 0;
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    if (segments_in(cells, (1U << (cell + step)) - 1) <= n) cell += step;
  return cell;
}

/// Puts segment `index` into the list: looks for its word, and in the word for its cell.
template <class S>
__device__ __forceinline__ void list_segment(Tile<S>& tile, unsigned index) {
  const auto& s = tile.shared;
  int word = 0;  // the last one with at most `index` segments before it
#pragma unroll
  for (int step = kTileWords / 2; step > 0; step /= 2)
    if (s.before[word + step] <= index) word += step;
  const CellWords cells = s.bits.cells[word];
  const unsigned n = index - s.before[word];
  const int bit = cell_of_segment(cells, n);
  const unsigned sub = n - segments_in(cells, (1U << bit) - 1);
  const FromWords from = s.bits.from[word];
  const unsigned sides = (from.odd >> bit & 1) | (from.late >> bit & 1) << 1 |
                         (cells.to_odd >> bit & 1) << 2 | (cells.to_late >> bit & 1) << 3;
  // The second segment of a saddle has the opposite sides.
  tile.shared.segment[index] = static_cast<unsigned short>(static_cast<unsigned>(word * 32 + bit) |
                                                           sub << 11 | (sides ^ (sub != 0 ? 10U : 0U)) << 12);
  tile.shared.flags[index] = 0;
}

/// Called after count_segments, which found at least one segment and at most kCapacity. Ends with a barrier.
template <class S>
__device__ __forceinline__ void list_segments(Tile<S>& tile) {
#pragma unroll 1
  for (int i = tile.thread; i < tile.segments; i += S::kThreads) list_segment(tile, static_cast<unsigned>(i));
  tile.sync();
}

}  // namespace contorno::contour_engine
