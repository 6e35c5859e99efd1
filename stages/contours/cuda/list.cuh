// Step 3 of a tile, list: its segments in raster order.
//
//   Reads   TileBits
//   Writes  before, segment; clears flags, open, closed
//
// A segment's index is how many segments the cells before its own have, by a scan over words of 32 cells and
// by counting bits inside a word. So a segment's index follows from its cell, and later steps need no table
// from cells to segments. A warp goes through the list, since most of its tiles have few segments; a block
// goes through the cells.
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
    const unsigned sum = warp_scan(in_left + in_right);
    s.before[2 * tile.thread] = static_cast<unsigned short>(sum - in_right - in_left);
    s.before[2 * tile.thread + 1] = static_cast<unsigned short>(sum - in_right);
    if (tile.thread == 31) s.before[kTileWords] = static_cast<unsigned short>(sum);
  }
  if (tile.thread == 0) s.open = s.closed = 0;
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

/// Puts segment `sub` of a cell into the list.
template <class S>
__device__ __forceinline__ void list_segment(Tile<S>& tile, unsigned index, int word, int bit, int sub,
                                             const CellWords& cells) {
  const FromWords from = tile.shared.bits.from[word];
  const unsigned sides = (from.odd >> bit & 1) | (from.late >> bit & 1) << 1 |
                         (cells.to_odd >> bit & 1) << 2 | (cells.to_late >> bit & 1) << 3;
  // The second segment of a saddle has the opposite sides.
  tile.shared.segment[index] =
      static_cast<unsigned short>(static_cast<unsigned>(word * 32 + bit) | static_cast<unsigned>(sub) << 11 |
                                  (sides ^ (sub != 0 ? 10U : 0U)) << 12);
  tile.shared.flags[index] = 0;
}

/// A lane a segment.
template <class S>
__device__ __forceinline__ void list_by_segments(Tile<S>& tile) {
#pragma unroll 1
  for (int i = tile.thread; i < tile.segments; i += S::kThreads) {
    const auto index = static_cast<unsigned>(i);
    int word = 0;  // the last one with at most i segments before it
#pragma unroll
    for (int step = kTileWords / 2; step > 0; step /= 2)
      if (tile.shared.before[word + step] <= index) word += step;
    const CellWords cells = tile.shared.bits.cells[word];
    const unsigned n = index - tile.shared.before[word];
    const int bit = cell_of_segment(cells, n);
    const unsigned first = segments_in(cells, (1U << bit) - 1);
    list_segment(tile, index, word, bit, static_cast<int>(n - first), cells);
  }
}

/// A lane a cell; each warp takes some words of cells.
template <class S>
__device__ __forceinline__ void list_by_cells(Tile<S>& tile) {
  const int lane = tile.thread % 32;
#pragma unroll 1
  for (int word = tile.thread / 32; word < kTileWords; word += S::kThreads / 32) {
    const CellWords cells = tile.shared.bits.cells[word];
    if ((cells.crossed >> lane & 1) == 0) continue;
    const unsigned index = index_in_word(tile, word, cells, 1U << lane);
    list_segment(tile, index, word, lane, 0, cells);
    if ((cells.saddle >> lane & 1) != 0) list_segment(tile, index + 1, word, lane, 1, cells);
  }
}

/// Called after count_segments, which found at least one segment and at most kCapacity. Ends with a barrier.
template <class S>
__device__ __forceinline__ void list_segments(Tile<S>& tile) {
  if constexpr (S::kThreads == 32)
    list_by_segments(tile);
  else
    list_by_cells(tile);
  tile.sync();
}

}  // namespace contorno::contour_engine
