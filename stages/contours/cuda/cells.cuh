// Step 2 of a tile, cells: two rows of bits become a row of cells.
//
//   Reads   a bit a sample (high), and where a sample is NaN or masked another one (usable)
//   Writes  TileBits: for each cell whether it is crossed, whether it is a saddle, and the sides of its first
//           segment, a bit each
//
// A word has the cells of half a row, so that shifts and logic work on 32 or 64 cells at once, and later
// steps find a cell's number in the list of segments by counting bits.
#pragma once

#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

/// A bit for each of the 65 samples in a row of a tile: columns 0 to 63 in `word`, column 64 in `last`.
struct RowWord {
  unsigned long long word;
  unsigned last;
  __device__ __forceinline__ unsigned long long right() const {
    return word >> 1 | static_cast<unsigned long long>(last) << 63;
  }
};

/// The cells of one row of a tile, bit by bit: which are crossed, which are saddles, and the sides of their
/// first segments.
struct RowCells {
  unsigned long long crossed, saddle;
  FirstSegments<unsigned long long> first;
};

/// 32 cells of a row, bit by bit: what linking needs of a neighbouring cell, in 16 bytes, so that one load
/// brings it. FromWords has the rest.
struct alignas(16) CellWords {
  unsigned crossed, saddle, to_odd, to_late;
};
struct alignas(8) FromWords {
  unsigned odd, late;
};

inline constexpr int kTileWords = 2 * kTileRows;  ///< words of 32 cells in a tile

/// The cells of a tile, in raster order.
struct TileBits {
  CellWords cells[kTileWords];
  FromWords from[kTileWords];
  unsigned unusual;  ///< 1: crossings may fall on samples, so links need exact points
  unsigned unused[3];
};

/// The cells of row `row`, between two rows of samples; those outside of the map are not crossed.
__device__ __forceinline__ RowCells find_cells(const RowWord& upper, const RowWord& lower,
                                               const TileBounds& bounds, int row, Connectivity connectivity) {
  const unsigned long long ul = upper.word, ur = upper.right(), ll = lower.word, lr = lower.right();
  const unsigned long long inside = row < bounds.rows ? ~0ULL >> (64 - bounds.columns) : 0ULL;
  return {crossed_cells(ul, ur, ll, lr) & inside, saddle_cells(ul, ur, ll, lr),
          first_segments(ul, ur, ll, lr, connectivity)};
}

/// Takes out the cells that have an unusable sample (NaN or masked); `valid` has the bits of the usable ones.
__device__ __forceinline__ void leave_out(RowCells& cells, const RowWord& upper_valid,
                                          const RowWord& lower_valid) {
  cells.crossed &= upper_valid.word & upper_valid.right() & lower_valid.word & lower_valid.right();
}

__device__ __forceinline__ void store_cells(TileBits& bits, int row, const RowCells& cells) {
  const unsigned long long saddle = cells.saddle & cells.crossed;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int shift = 32 * half;
    bits.cells[2 * row + half] = {static_cast<unsigned>(cells.crossed >> shift),
                                  static_cast<unsigned>(saddle >> shift),
                                  static_cast<unsigned>(cells.first.to_odd >> shift),
                                  static_cast<unsigned>(cells.first.to_late >> shift)};
    bits.from[2 * row + half] = {static_cast<unsigned>(cells.first.from_odd >> shift),
                                 static_cast<unsigned>(cells.first.from_late >> shift)};
  }
}

/// Segments in 32 cells, or in those of them that `which` names.
__device__ __forceinline__ unsigned segments_in(const CellWords& cells, unsigned which = ~0U) {
  return static_cast<unsigned>(__popc(cells.crossed & which) + __popc(cells.saddle & which));
}

}  // namespace contorno::contour_engine
