// How the samples of a tile become bits, and what the bits say of its cells: one bit a cell, in words of 32
// cells of a row. A tile is 64 x 32 cells of one plane (a class's map).
#pragma once

#include <type_traits>

#include "stages/contours/cuda/nodes.cuh"
#include "stages/contours/rules/level_test.h"

namespace contorno::contour_engine {

/// Where a tile lies: its number, its plane, its first cell, and how many rows and columns of cells it has.
struct TilePlace {
  int tile, plane, row0, col0, rows, columns;
};

template <class P>
__device__ __forceinline__ TilePlace place_of_tile(const Job<P>& job, int tile) {
  TilePlace place;
  place.tile = tile;
  const int rows = static_cast<int>(job.by_tiles_x.quotient(static_cast<unsigned>(tile)));
  place.plane = static_cast<int>(job.by_tiles_y.quotient(static_cast<unsigned>(rows)));
  place.row0 = (rows - place.plane * job.tiles_y) * kTileRows;
  place.col0 = (tile - rows * job.tiles_x) * kTileColumns;
  place.rows = min(kTileRows, job.cell_rows - place.row0);
  place.columns = min(kTileColumns, job.cell_columns - place.col0);
  return place;
}

/// The tile of block `block` in a grid that begins with tile `first_tile` of each plane. Interleaved classes
/// share lines of memory, so tiles of all classes at one place run at about the same time and a line is
/// fetched once.
template <class P>
__device__ __forceinline__ TilePlace place_of_block(const Job<P>& job, int block) {
  const bool interleaved = job.map.plane_pitch < job.map.row_pitch;
  return place_of_tile(
      job, job.first_tile +
               (interleaved ? block % job.planes * (job.tiles_x * job.tiles_y) + block / job.planes : block));
}

/// The cells of one row of a tile, bit by bit: which are crossed, which are saddles, and the sides of their
/// first segments.
struct RowCells {
  unsigned long long crossed, saddle;
  FirstSegments<unsigned long long> first;
};

/// The same for 32 cells of a row: what linking needs of a neighbouring cell, in 16 bytes, so that one load
/// brings it; FromWords has the rest.
struct alignas(16) CellWords {
  unsigned crossed, saddle, to_odd, to_late;
};
struct alignas(8) FromWords {
  unsigned odd, late;
};

inline constexpr int kTileGroups = 2 * kTileRows;  ///< groups of 32 cells in a tile

/// The cells of a tile, in raster order.
struct TileBits {
  CellWords cells[kTileGroups];
  FromWords from[kTileGroups];
  unsigned unusual;  ///< 1: crossings may fall on samples, so links need exact points
  unsigned unused[3];
};

__device__ __forceinline__ unsigned is_negative(float v) {
  return __float_as_uint(v) >> 31;
}
__device__ __forceinline__ unsigned is_negative(double v) {
  return static_cast<unsigned>(static_cast<unsigned long long>(__double_as_longlong(v)) >> 63);
}

/// The bits of v >= 0 as a float, rounded up. As integers they are in the order of the values, with NaN above
/// all.
__device__ __forceinline__ unsigned float_bits_above(float v) {
  return __float_as_uint(v);
}
__device__ __forceinline__ unsigned float_bits_above(double v) {
  return __float_as_uint(__double2float_ru(v));
}

/// How samples are compared with the level of their plane. A sample is usual if it is finite and so far from
/// the level that no crossing point can fall on it (rules/level_test.h).
template <class T>
struct LevelTest {
  using Value = typename Sample<T>::Value;
  Value threshold, centre, rounding;
  SafeDistances<Value> safe;
  template <class P>
  __device__ __forceinline__ LevelTest(const Job<P>& job, int plane) {
    const double level = job.level[plane % job.levels];
    threshold = std::is_same_v<Value, double> ? static_cast<Value>(level)
                                              : static_cast<Value>(job.threshold[plane % job.levels]);
    centre = static_cast<Value>(Sample<T>::kInteger ? level * job.map.divisor : level);
    safe = safe_distances(fmax(fabs(centre), Value{1}));
    // For many samples together only the ratio of their distances counts, and that the least one exceeds the
    // rounding of threshold and centre. What then is unusual are samples exactly at the level, or so near
    // that rounding hides their distance.
    const bool exact = !Sample<T>::kInteger && static_cast<double>(threshold) == level;
    rounding =
        exact ? Value{0} : fmax(fabs(centre) * static_cast<Value>(0x1p-21), static_cast<Value>(0x1p-120));
  }
  /// An upper bound to begin a minimum of distances with; from here on samples do not count as finite.
  static constexpr __device__ Value greatest_usual() { return static_cast<Value>(0x1p126); }
  /// Whether samples are finite, given their greatest distance from the level as float_bits_above makes it;
  /// and whether finite ones are usual together, given the least distance, too.
  __device__ __forceinline__ bool are_finite(unsigned greatest) const {
    return greatest < __float_as_uint(0x1p126F);
  }
  __device__ __forceinline__ bool are_usual(Value least, unsigned greatest) const {
    const auto most = static_cast<Value>(__uint_as_float(greatest));
    return least > rounding && least > most * static_cast<Value>(kLeastOfGreatest);
  }
  /// Distance of a sample from the level, for the functions above; NaN and infinities stay what they are.
  __device__ __forceinline__ Value distance(Value v) const {
    return fabs((Sample<T>::kInteger ? centre : threshold) - v);
  }
  /// Whether a crossing between these two samples cannot fall on either.
  __device__ __forceinline__ bool misses_samples(Value a, Value b) const {
    const Value most = greater_or_nan(distance(a), distance(b));
    const unsigned above = float_bits_above(most);
    return are_finite(above) && are_usual(fmin(distance(a), distance(b)), above);
  }
  __device__ __forceinline__ bool is_high(Value v) const { return v > threshold; }
  /// Whether this sample is usual by itself. False for NaN.
  __device__ __forceinline__ bool is_usual(Value v) const {
    const Value distance = fabs(v - centre);
    return distance > safe.near && distance < safe.far;
  }
};

/// A bit for each of the 65 samples in a row of a tile: columns 0 to 63 in `word`, column 64 in `last`.
struct RowWord {
  unsigned long long word;
  unsigned last;
  __device__ __forceinline__ unsigned long long right() const {
    return word >> 1 | static_cast<unsigned long long>(last) << 63;
  }
};

/// The cells of row `row`, between two rows of samples; those outside of the map are not crossed.
__device__ __forceinline__ RowCells find_cells(const RowWord& upper, const RowWord& lower,
                                               const TilePlace& place, int row, Connectivity connectivity) {
  const unsigned long long ul = upper.word, ur = upper.right(), ll = lower.word, lr = lower.right();
  const unsigned long long inside = row < place.rows ? ~0ULL >> (64 - place.columns) : 0ULL;
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

}  // namespace contorno::contour_engine
