// The kernel of Diamond-Square: a block refines one tile by up to six levels in shared memory. Cells around
// the tile that its squares need are worked out again by every block that needs them; random numbers by
// counter allow it.
#pragma once

#include "cuda/launch.cuh"
#include "stages/diamond_square_rules.h"

namespace contorno::diamond_square_cuda {

inline constexpr unsigned kThreads = 256;
inline constexpr int kLevels = 6;  // a pass refines by at most so many
inline constexpr int kTile = 1 << kLevels;
inline constexpr int kGrid = kTile / 2 + 4;  // cells of all levels but the last, with what lies around
inline constexpr int kGroup = 4;             // random numbers of a row that one thread draws

/// One pass: from a grid in global memory (or the corners) to one of 2^levels times the resolution.
struct Pass {
  const void* in = nullptr;                   ///< null: the corners are worked out
  std::ptrdiff_t in_pitch = 0, in_plane = 0;  ///< bytes
  std::int64_t in_row = 0, in_col = 0;        ///< of its first cell
  void* out = nullptr;
  std::ptrdiff_t out_pitch = 0, out_plane = 0, out_cell = 0;  ///< bytes
  CellSpan rows, cols;                                        ///< of the output
  std::int64_t tile_row = 0, tile_col = 0;  ///< of the first tile, multiples of the tile's side
  unsigned tiles_across = 1, tiles = 1;     ///< of a channel
  std::int64_t step = 1;                    ///< between the output's cells
  int levels = 1;
  HeightRule rules[kLevels];  ///< the finest first
  PhiloxKey key;
  std::uint32_t mask = ~0U;
  std::int64_t side = -1;
  std::uint32_t corners[4] = {};
  bool given_corners = false;
};

/// The cells of one level around a tile.
struct Window {
  std::int64_t row, col;
  int rows, cols;
};

template <class T>
struct TileShared {
  T fine[kTile * kTile];  ///< levels of even number, counted from the finest
  T coarse[kGrid * kGrid];
  T diamonds[kGrid * kGrid];
  Window windows[kLevels + 1];
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

/// f(row, first column, columns) for groups of kGroup cells of a rows x cols grid.
template <class F>
__device__ void for_groups(int rows, int cols, const F& f) {
  const int across = (cols + kGroup - 1) / kGroup;
  for (int group = static_cast<int>(threadIdx.x); group < rows * across;
       group += static_cast<int>(kThreads)) {
    const int row = group / across, col = (group - row * across) * kGroup;
    f(row, col, cols - col < kGroup ? cols - col : kGroup);
  }
}

/// One level, of which the block holds the coarser cells.
template <class T>
struct LevelOfTile {
  using N = typename Heights<T>::Noise;
  const Pass& pass;
  const HeightRule& rule;
  std::uint32_t channel;
  Window from, to;
  const T* old;
  T* diamonds;
  T* out;
  int old_pitch, out_pitch;

  __device__ PhiloxRow row_of(std::int64_t row) const {
    return PhiloxRow(pass.key, static_cast<std::uint32_t>(row) & pass.mask, rule.level, channel);
  }
  __device__ N noise(const PhiloxRow& random, std::int64_t col) const {
    return noise_of<T>(random(static_cast<std::uint32_t>(col) & pass.mask), rule);
  }

  __device__ void make_diamonds() const {
    for_groups(from.rows - 1, from.cols - 1, [&](int r, int first, int count) {
      const PhiloxRow random = row_of(from.row + (2 * r + 1) * rule.half);
      const T* above = old + r * old_pitch + first;
      const T* below = above + old_pitch;
      for (int i = 0; i < kGroup; ++i)
        if (i < count)
          diamonds[r * kGrid + first + i] = height_of_four<T, N>(
              above[i], above[i + 1], below[i], below[i + 1],
              noise(random, from.col + (2 * (first + i) + 1) * rule.half), static_cast<N>(rule.round4));
    });
  }

  /// Every pair of cells in a row has one that is known and one square.
  __device__ void make_squares() const {
    const int top = static_cast<int>((to.row - from.row) / rule.half),
              left = static_cast<int>((to.col - from.col) / rule.half);
    const int first_pair = left / 2, pairs = (left + to.cols - 1) / 2 - first_pair + 1;
    for_groups(to.rows, pairs, [&](int r, int first, int count) {
      const PhiloxRow random = row_of(to.row + r * rule.half);
      for (int i = 0; i < kGroup; ++i) {
        if (i >= count) break;
        const int pair = first_pair + first + i, k = (top + r) / 2;
        const bool odd = (top + r) % 2 != 0;
        const T known =
            odd ? (pair < from.cols - 1 ? diamonds[k * kGrid + pair] : T{}) : old[k * old_pitch + pair];
        const T square = odd                    ? odd_square(random, k, pair)
                         : pair < from.cols - 1 ? even_square(random, k, pair)
                                                : T{};
        const int place = 2 * pair - left;  // of the pair's first cell in the output
        T* line = out + r * out_pitch;
        if (place >= 0) line[place] = odd ? square : known;
        if (place + 1 >= 0 && place + 1 < to.cols) line[place + 1] = odd ? known : square;
      }
    });
  }

  /// Between two old cells of a row.
  __device__ T even_square(const PhiloxRow& random, int k, int i) const {
    const std::int64_t row = from.row + 2 * k * rule.half;
    const bool no_up = k == 0 || (pass.side >= 0 && row == 0),
               no_down = k == from.rows - 1 || row == pass.side;
    const T up = no_up ? T{} : diamonds[(k - 1) * kGrid + i], down = no_down ? T{} : diamonds[k * kGrid + i];
    return square(random, from.col + (2 * i + 1) * rule.half, no_up || no_down, up, down,
                  old[k * old_pitch + i], old[k * old_pitch + i + 1]);
  }
  /// Between two old cells of a column.
  __device__ T odd_square(const PhiloxRow& random, int k, int i) const {
    const bool no_left = i == 0, no_right = i == from.cols - 1;
    const T left = no_left ? T{} : diamonds[k * kGrid + i - 1],
            right = no_right ? T{} : diamonds[k * kGrid + i];
    return square(random, from.col + 2 * i * rule.half, no_left || no_right, old[k * old_pitch + i],
                  old[(k + 1) * old_pitch + i], left, right);
  }
  __device__ T square(const PhiloxRow& random, std::int64_t col, bool three, T up, T down, T left,
                      T right) const {
    const N drawn = noise(random, col);
    return three ? height_of_three<T, N>(up, down, left, right, drawn, static_cast<N>(rule.round3))
                 : height_of_four<T, N>(up, down, left, right, drawn, static_cast<N>(rule.round4));
  }
};

/// What of each level the tile needs: the output's cells first.
__device__ inline void plan_windows(const Pass& pass, unsigned tile, Window* windows) {
  const std::int64_t side = pass.step << pass.levels;
  const std::int64_t row = pass.tile_row + static_cast<std::int64_t>(tile / pass.tiles_across) * side;
  const std::int64_t col = pass.tile_col + static_cast<std::int64_t>(tile % pass.tiles_across) * side;
  const auto cut = [side, &pass](std::int64_t first, CellSpan whole) {
    const std::int64_t last = first + side - pass.step;
    return CellSpan{first > whole.first ? first : whole.first, last < whole.last ? last : whole.last};
  };
  CellSpan rows = cut(row, pass.rows), cols = cut(col, pass.cols);
  std::int64_t step = pass.step;
  for (int i = 0; i <= pass.levels; ++i, step *= 2) {
    windows[i] = {rows.first, cols.first, rows.count(step), cols.count(step)};
    rows = coarser_span(rows, step, pass.side), cols = coarser_span(cols, step, pass.side);
  }
}

template <class T>
__device__ void load_start(const Pass& pass, std::uint32_t channel, const Window& window, T* grid,
                           int pitch) {
  const std::int64_t step = pass.step << pass.levels;
  const char* in = static_cast<const char*>(pass.in) + static_cast<std::ptrdiff_t>(channel) * pass.in_plane;
  for (int i = static_cast<int>(threadIdx.x); i < window.rows * window.cols;
       i += static_cast<int>(kThreads)) {
    const int r = i / window.cols, c = i - r * window.cols;
    const std::int64_t row = window.row + r * step, col = window.col + c * step;
    grid[r * pitch + c] =
        pass.in == nullptr ? corner_of<T>(pass, row, col, channel)
                           : reinterpret_cast<const T*>(in + (row - pass.in_row) / step *
                                                                 pass.in_pitch)[(col - pass.in_col) / step];
  }
}

template <class T>
__device__ void store_tile(const Pass& pass, std::uint32_t channel, const Window& window, const T* grid) {
  char* out = static_cast<char*>(pass.out) + static_cast<std::ptrdiff_t>(channel) * pass.out_plane +
              (window.row - pass.rows.first) / pass.step * pass.out_pitch +
              (window.col - pass.cols.first) / pass.step * pass.out_cell;
  constexpr int kUnit = static_cast<int>(16 / sizeof(T)), kUnits = kTile / kUnit;
  const bool whole = window.cols == kTile && pass.out_cell == static_cast<std::ptrdiff_t>(sizeof(T)) &&
                     reinterpret_cast<std::uintptr_t>(out) % 16 == 0 && pass.out_pitch % 16 == 0;
  if (whole) {
    for (int i = static_cast<int>(threadIdx.x); i < window.rows * kUnits; i += static_cast<int>(kThreads)) {
      const int r = i / kUnits, unit = i % kUnits;
      reinterpret_cast<uint4*>(out + r * pass.out_pitch)[unit] =
          reinterpret_cast<const uint4*>(grid + r * kTile)[unit];
    }
    return;
  }
  for (int i = static_cast<int>(threadIdx.x); i < window.rows * window.cols;
       i += static_cast<int>(kThreads)) {
    const int r = i / window.cols, c = i - r * window.cols;
    *reinterpret_cast<T*>(out + r * pass.out_pitch + c * pass.out_cell) = grid[r * kTile + c];
  }
}

template <class T>
__global__ void __launch_bounds__(kThreads) refine_tiles(const Pass pass) {
  auto& shared = block_shared<TileShared<T>>();
  const std::uint32_t channel = blockIdx.x / pass.tiles;
  if (threadIdx.x == 0) plan_windows(pass, blockIdx.x % pass.tiles, shared.windows);
  __syncthreads();
  const auto grid = [&](int level) { return level % 2 == 0 ? shared.fine : shared.coarse; };
  const auto pitch = [](int level) { return level % 2 == 0 ? kTile : kGrid; };
  load_start(pass, channel, shared.windows[pass.levels], grid(pass.levels), pitch(pass.levels));
  __syncthreads();
  for (int level = pass.levels - 1; level >= 0; --level) {
    const LevelOfTile<T> one{pass,
                             pass.rules[level],
                             channel,
                             shared.windows[level + 1],
                             shared.windows[level],
                             grid(level + 1),
                             shared.diamonds,
                             grid(level),
                             pitch(level + 1),
                             pitch(level)};
    one.make_diamonds();
    __syncthreads();
    one.make_squares();
    __syncthreads();
  }
  store_tile(pass, channel, shared.windows[0], shared.fine);
}

}  // namespace contorno::diamond_square_cuda
