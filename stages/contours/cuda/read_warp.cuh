// Step 1 of a tile, read, by a warp: large maps, where a multiprocessor works on many tiles at once.
//
//   Reads   the tile's 65 x 33 samples, once (tiles with samples that are not finite or masked: twice)
//   Writes  the cells (cells.cuh); the bits of samples stay in registers
//
// Each lane reads two columns of 32 samples and shifts the sign of threshold - v into a word: a vote a sample
// would take three times the instructions. Transposing the words once gives each lane the bits of one row.
// While the warp waits for memory others of the multiprocessor go on.
#pragma once

#include "stages/contours/cuda/cells.cuh"
#include "stages/contours/cuda/level.cuh"

namespace contorno::contour_engine {

/// The columns of samples that a lane reads, and the last row of the map. For samples beyond the map the last
/// one inside is read; cells with such samples are not used.
struct LaneSamples {
  int lane, bottom;
  int column[3];  ///< this lane's in the left and the right half, and column 64
  template <class P>
  __device__ __forceinline__ LaneSamples(const PlaneGroup<P>& group, const TileBounds& bounds)
      : lane(static_cast<int>(threadIdx.x) % 32),
        bottom(group.map.height - 1),
        column{min(bounds.col0 + lane, group.map.width - 1),
               min(bounds.col0 + 32 + lane, group.map.width - 1),
               min(bounds.col0 + kTileColumns, group.map.width - 1)} {}
};

/// Transposes the matrix of 32 x 32 bits that has a column in each lane (in lane c, bit r is row r):
/// afterwards each lane has a row.
__device__ __forceinline__ unsigned transpose(unsigned word) {
  const unsigned lane = threadIdx.x % 32;
  unsigned low = 0x0000FFFFU;
#pragma unroll
  for (unsigned step = 16; step > 0; step /= 2) {
    const unsigned other = __shfl_xor_sync(~0U, word, static_cast<int>(step));
    const bool upper = (lane & step) != 0;
    const unsigned keep = upper ? ~low : low;
    const unsigned moved = upper ? other >> step : other << step;
    word = (word & keep) | (moved & ~keep);
    low ^= low << (step / 2);
  }
  return word;
}

/// The bits of a tile's samples: the row of this lane, and row 32.
struct TileRows {
  RowWord row, last_row;
  bool usual;   ///< no crossing can fall on a sample, so links follow edges
  bool finite;  ///< all samples are finite, so `row` and `last_row` are right
};

/// Compares samples one by one with the level; the least and the greatest distance tell in the end whether
/// all are usual.
template <class T>
struct Comparison {
  using Value = typename Sample<T>::Value;
  const LevelTest<T>& test;
  Value least = test.greatest_usual(), greatest = 0;
  /// 1 if the sample is high, else 0; if it is finite.
  __device__ __forceinline__ unsigned is_high(Value v) {
    const Value below = test.threshold - v;
    const Value distance = test.distance(v);
    least = fmin(least, distance);
    greatest = greater_or_nan(greatest, distance);
    return is_negative(below);
  }
};

/// The bits of the columns `left` and `right` (offsets in bytes) of the tile's first 32 rows, row 0 lowest.
/// `line` is row 32.
template <class T>
__device__ __forceinline__ uint2 read_columns(const Map& map, int rows_below, const unsigned char* line,
                                              long long left, long long right, Comparison<T>& compare) {
  const unsigned char* left_line = line + left;
  const unsigned char* right_line = line + right;
  typename Sample<T>::Value value[kTileRows][2];
  // From the last row to the first, so that the bit of row 0 comes to stand lowest.
#pragma unroll
  for (int k = kTileRows - 1; k >= 0; --k) {
    const long long up = k < rows_below ? map.row_pitch : 0;
    left_line -= up;
    right_line -= up;
    value[k][0] = Sample<T>::read(left_line);
    value[k][1] = Sample<T>::read(right_line);
  }
  uint2 columns = {0, 0};
#pragma unroll
  for (int k = kTileRows - 1; k >= 0; --k) {
    columns.x = columns.x << 1 | compare.is_high(value[k][0]);
    columns.y = columns.y << 1 | compare.is_high(value[k][1]);
  }
  return columns;
}

/// The fast way, of a few instructions a sample: the bit of a sample is the sign of threshold - v.
template <class T, class P>
__device__ __forceinline__ TileRows read_rows(const PlaneGroup<P>& group, const TileBounds& bounds,
                                              const LevelTest<T>& test) {
  using Value = typename Sample<T>::Value;
  const Map& map = group.map;
  const LaneSamples at(group, bounds);
  const unsigned char* const plane = map.data + bounds.channel * map.plane_pitch;
  const long long left = at.column[0] * map.sample_pitch;
  const long long right = at.column[1] * map.sample_pitch;
  const long long last = at.column[2] * map.sample_pitch;
  // Column 64 and row 32 first; their values are used last.
  const unsigned char* line = plane + min(bounds.row0 + kTileRows, at.bottom) * map.row_pitch;
  const Value extra[4] = {
      Sample<T>::read(plane + min(bounds.row0 + at.lane, at.bottom) * map.row_pitch + last),
      Sample<T>::read(line + left), Sample<T>::read(line + right), Sample<T>::read(line + last)};
  Comparison<T> compare{test};
  const uint2 columns = read_columns<T>(map, at.bottom - bounds.row0, line, left, right, compare);
  TileRows rows;
  rows.row = {transpose(columns.x) | static_cast<unsigned long long>(transpose(columns.y)) << 32,
              compare.is_high(extra[0])};
  const unsigned low = __ballot_sync(~0U, compare.is_high(extra[1]) != 0);
  const unsigned high = __ballot_sync(~0U, compare.is_high(extra[2]) != 0);
  rows.last_row = {low | static_cast<unsigned long long>(high) << 32, compare.is_high(extra[3])};
  const unsigned most = highest_of_warp(float_bits_above(compare.greatest));
  rows.finite = test.are_finite(most);
  rows.usual = __any_sync(~0U, rows.finite && test.are_usual(compare.least, most) ? 0 : 1) == 0;
  return rows;
}

/// The rare way, for tiles with samples that are not finite or masked: compares each sample, and finds which
/// are usable (not NaN, not masked). Small rather than fast.
template <class T, class P>
__device__ __noinline__ void read_unusual(const PlaneGroup<P>& group, const TileBounds& bounds,
                                          TileRows& high, TileRows& valid) {
  using Value = typename Sample<T>::Value;
  constexpr int kRows = 4;
  const LevelTest<T> test(group, bounds.plane);
  const LaneSamples at(group, bounds);
#pragma unroll 1
  for (int first = 0; first <= kTileRows; first += kRows) {
    Value value[kRows][3];
#pragma unroll
    for (int k = 0; k < kRows; ++k)
#pragma unroll
      for (int c = 0; c < 3; ++c)
        value[k][c] =
            read_sample<T>(group.map, bounds.channel, min(bounds.row0 + first + k, at.bottom), at.column[c]);
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      unsigned is_high[3];
      unsigned is_valid[3];
#pragma unroll
      for (int c = 0; c < 3; ++c) {
        const Value v = value[k][c];
        const int row = min(bounds.row0 + first + k, at.bottom);
        is_high[c] = __ballot_sync(~0U, test.is_high(v));
        is_valid[c] = __ballot_sync(~0U, v == v && !is_masked(group.map, row, at.column[c]));
      }
      const RowWord high_row{is_high[0] | static_cast<unsigned long long>(is_high[1]) << 32, is_high[2] & 1};
      const RowWord valid_row{is_valid[0] | static_cast<unsigned long long>(is_valid[1]) << 32,
                              is_valid[2] & 1};
      if (at.lane == first + k) high.row = high_row, valid.row = valid_row;
      if (first + k == kTileRows) high.last_row = high_row, valid.last_row = valid_row;
    }
  }
}

/// Whether no sample of the tile is masked. Called by whole warps.
template <class P>
__device__ __noinline__ bool is_unmasked(const PlaneGroup<P>& group, const TileBounds& bounds) {
  const LaneSamples at(group, bounds);
  bool masked = false;
  for (int row = 0; row <= kTileRows; ++row)
#pragma unroll
    for (int c = 0; c < 3; ++c)
      masked = masked || is_masked(group.map, min(bounds.row0 + row, at.bottom), at.column[c]);
  return __any_sync(~0U, masked ? 1 : 0) == 0;
}

/// The row of samples below the one of this lane.
__device__ __forceinline__ RowWord row_below(const RowWord& row, const RowWord& last_row) {
  const unsigned long long word = __shfl_down_sync(~0U, row.word, 1);
  const unsigned last = __shfl_down_sync(~0U, row.last, 1);
  return threadIdx.x % 32 == 31 ? last_row : RowWord{word, last};
}

/// Finds the cells of a tile. Called by one warp, and ends with a barrier of that warp. False: no cell is
/// crossed.
template <class T, class P>
__device__ __forceinline__ bool read_by_warp(const PlaneGroup<P>& group, const TileBounds& bounds,
                                             TileBits& bits) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  TileRows rows = read_rows<T>(group, bounds, LevelTest<T>(group, bounds.plane));
  if (group.map.mask != nullptr && !is_unmasked(group, bounds)) rows.usual = rows.finite = false;
  RowCells cells;
  if (rows.finite) {
    cells = find_cells(rows.row, row_below(rows.row, rows.last_row), bounds, lane, group.connectivity());
  } else {
    TileRows high;
    TileRows valid;
    read_unusual<T>(group, bounds, high, valid);
    cells = find_cells(high.row, row_below(high.row, high.last_row), bounds, lane, group.connectivity());
    leave_out(cells, valid.row, row_below(valid.row, valid.last_row));
  }
  if (__any_sync(~0U, cells.crossed != 0 ? 1 : 0) == 0) return false;
  store_cells(bits, lane, cells);
  if (lane == 0) bits.unusual = rows.usual ? 0 : 1;
  __syncwarp();
  return true;
}

}  // namespace contorno::contour_engine
