// A pass of Diamond-Square on the device: its description (Pass), the shared memory of a block, and random
// numbers. Used by the kernels (tile.cuh, strip.cuh) and by the host code that plans the passes (passes.h).
#pragma once

#include <type_traits>

#include "cuda/launch.cuh"
#include "stages/diamond_square/rules.h"

namespace contorno::diamond_square_cuda {

inline constexpr unsigned kThreads = 512;
inline constexpr int kBlocks = 2;  // of a multiprocessor that run at the same time
inline constexpr int kLevels = 6;  // the most levels that a pass makes
inline constexpr int kTile = 1 << kLevels;
inline constexpr int kGrid = kTile / 2 + 4;  // side of the other levels' cells, with those around a tile
inline constexpr int kLanes = 16;            // threads that work on a row of a tile
inline constexpr int kRows = static_cast<int>(kThreads) / kLanes;
inline constexpr int kStripWarps = 4;                       // warps of a block; each makes a strip
inline constexpr int kStripBlocks = 8;                      // of a multiprocessor that run at the same time
inline constexpr int kStripRows = 16, kShortStripRows = 4;  // of a strip, in coarser cells
inline constexpr unsigned kShortStrips = 8192;  // about so many begin last, so that all end together
inline constexpr int kStripCols = 2 * 31;  // of a strip, in coarser cells: two of each lane but the first
inline constexpr std::int64_t kStripCells = 1 << 20;  // levels of at least so many cells are made by strips

/// One pass, the arguments of a kernel: from a grid in global memory, or from the corners, to a grid of
/// 2^levels times the resolution. With `strips` it makes one level, and its "tiles" are strips. Rows and
/// columns are cells of the field.
struct Pass {
  bool strips = false;
  const void* in = nullptr;                   ///< null: begin from the corners
  std::ptrdiff_t in_pitch = 0, in_plane = 0;  ///< bytes
  std::int64_t in_row = 0, in_col = 0;        ///< row and column of the input's first cell
  int in_rows = 0, in_cols = 0;
  int in_top = 0, in_left = 0;  ///< its rows above and columns left of the first tile
  void* out = nullptr;
  std::ptrdiff_t out_pitch = 0, out_plane = 0, out_cell = 0;  ///< bytes
  CellSpan rows, cols;                                        ///< of the output
  int out_rows = 0, out_cols = 0;
  int top = 0, left = 0;                    ///< the output's first cell, counted from the first tile's
  std::int64_t tile_row = 0, tile_col = 0;  ///< the first tile's place, multiples of the tile's side
  unsigned tiles_across = 1, tiles = 1;     ///< tiles of a channel: in a row, in all
  int tall_strips = 0;                      ///< rows of strips that are of full height; the first ones
  unsigned channels = 1;
  std::int64_t step = 1;  ///< between the output's cells
  int step_bits = 0;      ///< its logarithm
  int levels = 1;
  HeightRule rules[kLevels];        ///< the finest first
  std::int32_t low4 = 0, low3 = 0;  ///< the finest rule's lowest number, with what rounding adds
  PhiloxKey key;
  std::uint32_t low_keys[kPhiloxRounds] = {}, high_keys[kPhiloxRounds] = {};  ///< of all rounds
  std::uint32_t mask = ~0U;
  std::int64_t side = -1;
  std::uint32_t corners[4] = {};
  bool given_corners = false;
};

/// The cells of one level around a tile, counted from the tile's first cell in cells of the finest level.
struct Window {
  int row, col, rows, cols;
};

template <class T>
struct TileShared {
  T fine[kTile * kTile];  ///< levels of even number, counted from the finest
  T coarse[kGrid * kGrid];
  T diamonds[kGrid * kGrid];
  int first_row[kLevels + 1], rows[kLevels + 1], first_col[kLevels + 1], cols[kLevels + 1];
  __device__ Window window(int level) const {
    return {first_row[level], first_col[level], rows[level], cols[level]};
  }
};

template <class T>
__device__ T corner_of(const Pass& pass, std::int64_t row, std::int64_t col, std::uint32_t channel) {
  const std::uint32_t r = static_cast<std::uint32_t>(row) & pass.mask,
                      c = static_cast<std::uint32_t>(col) & pass.mask;
  if (!pass.given_corners) {
    PhiloxWords counter;
    counter.word[0] = r, counter.word[1] = c, counter.word[3] = channel;
    return corner_height<T>(philox(counter, pass.key).word[0]);
  }
  const std::uint32_t given = pass.corners[(r != 0 ? 2 : 0) + (c != 0 ? 1 : 0)];
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(given);
  else
    return static_cast<T>(given);
}

/// What is constant along a column in the first rounds of Philox: one product. On the device the work of
/// PhiloxRow is divided into a part for rows and one for columns, so that neither is repeated, and the keys
/// of all rounds are read from the pass, which instructions can do without a load.
__device__ inline std::uint64_t column_of_noise(const Pass& pass, std::uint32_t col, std::uint32_t level) {
  return static_cast<std::uint64_t>(kPhiloxM0) * (col ^ philox_high(kPhiloxM1, level) ^ pass.low_keys[0]);
}

/// What is constant along a row in the first three rounds of Philox.
struct alignas(16) RowOfNoise {
  std::uint32_t high1, low2, high2, last2;

  __device__ RowOfNoise(const Pass& pass, std::uint32_t row, std::uint32_t level, std::uint32_t channel) {
    const std::uint32_t c2 = philox_high(kPhiloxM0, row) ^ channel ^ pass.high_keys[0];
    high1 = (kPhiloxM0 * row) ^ pass.high_keys[1];
    const std::uint32_t c0 = philox_high(kPhiloxM1, c2) ^ (kPhiloxM1 * level) ^ pass.low_keys[1];
    low2 = (kPhiloxM1 * c2) ^ pass.low_keys[2];
    high2 = philox_high(kPhiloxM0, c0) ^ pass.high_keys[2];
    last2 = kPhiloxM0 * c0;
  }

  /// The random word of the cell where the row meets a column, in 14 multiplications.
  __device__ std::uint32_t word(const Pass& pass, std::uint64_t column) const {
    std::uint64_t q = static_cast<std::uint64_t>(kPhiloxM1) * (high(column) ^ high1);
    std::uint32_t c0 = high(q) ^ low2, c1 = low(q), c2 = low(column) ^ high2, c3 = last2;
#pragma unroll
    for (std::uint32_t round = 3; round < kPhiloxRounds - 1; ++round) {
      const std::uint64_t p1 = static_cast<std::uint64_t>(kPhiloxM1) * c2,
                          p0 = static_cast<std::uint64_t>(kPhiloxM0) * c0;
      c0 = high(p1) ^ c1 ^ pass.low_keys[round], c1 = low(p1);
      c2 = high(p0) ^ c3 ^ pass.high_keys[round], c3 = low(p0);
    }
    q = static_cast<std::uint64_t>(kPhiloxM1) * c2;
    return high(q) ^ c1 ^ pass.low_keys[kPhiloxRounds - 1];
  }

 private:
  __device__ static std::uint32_t high(std::uint64_t v) {
    return static_cast<std::uint32_t>(v >> 32);
  }
  __device__ static std::uint32_t low(std::uint64_t v) {
    return static_cast<std::uint32_t>(v);
  }
};

}  // namespace contorno::diamond_square_cuda
