// The kernel of Diamond-Square: a block refines one tile by up to six levels in shared memory. Cells around
// the tile that its squares need are worked out again by every block that needs them; random numbers by
// counter allow it.
#pragma once

#include "cuda/launch.cuh"
#include "stages/diamond_square_rules.h"

namespace contorno::diamond_square_cuda {

inline constexpr unsigned kThreads = 128;
inline constexpr int kBlocks = 10;  // of a multiprocessor that run at the same time
inline constexpr int kLevels = 6;   // a pass refines by at most so many
inline constexpr int kTile = 1 << kLevels;
inline constexpr int kGrid = kTile / 2 + 4;  // cells of all levels but the last, with what lies around
inline constexpr int kLanes = 8;  // threads of a row: each draws every eighth of its random numbers
inline constexpr int kRows = static_cast<int>(kThreads) / kLanes;

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
  int step_bits = 0;                        ///< its logarithm
  int levels = 1;
  HeightRule rules[kLevels];  ///< the finest first
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

/// PhiloxRow with the keys of the rounds out of the pass, where instructions read them without a load.
struct RowOfNoise {
  const Pass& pass;
  std::uint32_t x0, high1, low2, high2, last2;

  __device__ RowOfNoise(const Pass& given, std::uint32_t row, std::uint32_t level, std::uint32_t channel)
      : pass(given) {
    const std::uint32_t c2 = philox_high(kPhiloxM0, row) ^ channel ^ pass.high_keys[0];
    x0 = philox_high(kPhiloxM1, level) ^ pass.low_keys[0];
    high1 = (kPhiloxM0 * row) ^ pass.high_keys[1];
    const std::uint32_t c0 = philox_high(kPhiloxM1, c2) ^ (kPhiloxM1 * level) ^ pass.low_keys[1];
    low2 = (kPhiloxM1 * c2) ^ pass.low_keys[2];
    high2 = philox_high(kPhiloxM0, c0) ^ pass.high_keys[2];
    last2 = kPhiloxM0 * c0;
  }
  __device__ std::uint32_t operator()(std::uint32_t x) const {
    const std::uint64_t p = static_cast<std::uint64_t>(kPhiloxM0) * (x ^ x0);
    std::uint64_t q = static_cast<std::uint64_t>(kPhiloxM1) * (high(p) ^ high1);
    std::uint32_t c0 = high(q) ^ low2, c1 = low(q), c2 = low(p) ^ high2, c3 = last2;
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

template <class T>
struct alignas(2 * sizeof(T)) Pair {
  T first, second;
};

/// Grids of levels of even number, counted from the finest, have room for the tile; the others for half of
/// it.
template <bool kEven>
inline constexpr int kPitch = kEven ? kTile : kGrid;

/// One level, of which the block holds the coarser cells. kEven: of its number.
template <class T, bool kEven>
struct LevelOfTile {
  using N = typename Heights<T>::Noise;
  static constexpr int kOldPitch = kPitch<!kEven>, kNewPitch = kPitch<kEven>;
  const Pass& pass;
  HeightRule rule;  ///< a copy, so that loops find it in registers
  std::uint32_t channel;
  std::uint32_t tile_row, tile_col;  ///< of the tile's first cell, as counters
  int bits;                          ///< cells of the finest level from an old cell to a new one: 2^bits
  Window from, to;
  bool at_top, at_bottom;  ///< the coarser cells begin, end at the border of a finite field
  const T* old;
  T* diamonds;
  T* out;

  __device__ RowOfNoise row_of(int row) const {
    return RowOfNoise(pass, counter_of(tile_row, from.row + (row << bits)) & pass.mask, rule.level, channel);
  }
  __device__ std::uint32_t counter_of(std::uint32_t first, int cell) const {
    return first + (static_cast<std::uint32_t>(cell) << pass.step_bits);
  }
  /// Counter of a column, and from a thread's column to its next.
  __device__ std::uint32_t column(int col) const { return counter_of(tile_col, from.col + (col << bits)); }
  __device__ std::uint32_t next_column() const { return counter_of(0, 2 * kLanes << bits); }
  __device__ N noise(const RowOfNoise& random, std::uint32_t col) const {
    return noise_of<T>(random(col & pass.mask), rule);
  }

  __device__ void make_diamonds() const {
    const int lane = static_cast<int>(threadIdx.x) % kLanes, rows = from.rows - 1, cols = from.cols - 1;
    const std::uint32_t next = next_column();
    const auto round = static_cast<N>(rule.round4);
    for (int r = static_cast<int>(threadIdx.x) / kLanes; r < rows; r += kRows) {
      const RowOfNoise random = row_of(2 * r + 1);
      const T* above = old + r * kOldPitch;
      const T* below = above + kOldPitch;
      T* made = diamonds + r * kGrid;
      std::uint32_t counter = column(2 * lane + 1);
#pragma unroll 1
      for (int c = lane; c < cols; c += kLanes, counter += next)
        made[c] = height_of_four<T, N>(above[c], above[c + 1], below[c], below[c + 1], noise(random, counter),
                                       round);
    }
  }

  /// Two neighbours in a row of the output, of which the first is an even cell of the full row.
  __device__ void store(T* line, int place, T first, T second) const {
    if ((place & 1) == 0 && place >= 0 && place + 1 < to.cols) {
      *reinterpret_cast<Pair<T>*>(line + place) = Pair<T>{first, second};
      return;
    }
    if (place >= 0) line[place] = first;
    if (place + 1 >= 0 && place + 1 < to.cols) line[place + 1] = second;
  }

  /// Rows of old cells with squares between, then rows of diamonds with squares between: a warp's rows are
  /// alike.
  __device__ void make_squares() const {
    const int top = (to.row - from.row) >> bits, left = (to.col - from.col) >> bits;
    const int first_pair = left / 2, end = (left + to.cols - 1) / 2 + 1;
    const int lane = static_cast<int>(threadIdx.x) % kLanes, slot = static_cast<int>(threadIdx.x) / kLanes;
    // Most tiles of the finest level: no border near, pairs begin and end with the output.
    const bool inside = !at_top && !at_bottom && left == 2 && to.cols % 2 == 0 && end < from.cols;
    for (int r = top % 2 + 2 * slot; r < to.rows; r += 2 * kRows)
      if (inside)
        even_row_inside(r, (top + r) / 2, first_pair + lane, end);
      else
        even_row(r, (top + r) / 2, left, first_pair + lane, end);
    for (int r = 1 - top % 2 + 2 * slot; r < to.rows; r += 2 * kRows)
      if (inside)
        odd_row_inside(r, (top + r) / 2, first_pair + lane, end);
      else
        odd_row(r, (top + r) / 2, left, first_pair + lane, end);
  }

  __device__ void even_row_inside(int r, int k, int first, int end) const {
    const RowOfNoise random = row_of(2 * k);
    const T* known = old + k * kOldPitch;
    const T* up = diamonds + (k - 1) * kGrid;
    auto* pairs = reinterpret_cast<Pair<T>*>(out + r * kNewPitch);  // from number 1 on
    const auto round = static_cast<N>(rule.round4);
    const std::uint32_t next = next_column();
    std::uint32_t counter = column(2 * first + 1);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const T here = known[i];
      pairs[i - 1] = {here, height_of_four<T, N>(up[i], up[i + kGrid], here, known[i + 1],
                                                 noise(random, counter), round)};
    }
  }

  __device__ void odd_row_inside(int r, int k, int first, int end) const {
    const RowOfNoise random = row_of(2 * k + 1);
    const T* above = old + k * kOldPitch;
    const T* known = diamonds + k * kGrid;
    auto* pairs = reinterpret_cast<Pair<T>*>(out + r * kNewPitch);
    const auto round = static_cast<N>(rule.round4);
    const std::uint32_t next = next_column();
    std::uint32_t counter = column(2 * first);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const T after = known[i];
      pairs[i - 1] = {height_of_four<T, N>(above[i], above[i + kOldPitch], known[i - 1], after,
                                           noise(random, counter), round),
                      after};
    }
  }

  __device__ void even_row(int r, int k, int left, int first, int end) const {
    const RowOfNoise random = row_of(2 * k);
    const std::uint32_t next = next_column();
    const T* known = old + k * kOldPitch;
    T* line = out + r * kNewPitch;
    const bool no_up = k == 0 && at_top, no_down = k == from.rows - 1 && at_bottom, three = no_up || no_down;
    const T* up = diamonds + (k - 1) * kGrid;
    const T* down = diamonds + k * kGrid;
    const auto round3 = static_cast<N>(rule.round3), round4 = static_cast<N>(rule.round4);
    std::uint32_t counter = column(2 * first + 1);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const N drawn = noise(random, counter);
      const bool inside = i < from.cols - 1;
      const T here = known[i], beside = inside ? known[i + 1] : T{};
      T square{};
      if (three)
        square =
            height_of_three<T, N>(no_up ? T{} : up[i], no_down ? T{} : down[i], here, beside, drawn, round3);
      else
        square = height_of_four<T, N>(up[i], down[i], here, beside, drawn, round4);
      store(line, 2 * i - left, here, square);
    }
  }

  __device__ void odd_row(int r, int k, int left, int first, int end) const {
    const RowOfNoise random = row_of(2 * k + 1);
    const std::uint32_t next = next_column();
    const T* above = old + k * kOldPitch;
    const T* below = above + kOldPitch;
    const T* known = diamonds + k * kGrid;
    T* line = out + r * kNewPitch;
    const auto round3 = static_cast<N>(rule.round3), round4 = static_cast<N>(rule.round4);
    std::uint32_t counter = column(2 * first);
#pragma unroll 1
    for (int i = first; i < end; i += kLanes, counter += next) {
      const N drawn = noise(random, counter);
      const bool no_left = i == 0, no_right = i == from.cols - 1;
      const T before = no_left ? T{} : known[i - 1], after = no_right ? T{} : known[i];
      T square{};
      if (no_left || no_right)  // at the border of a finite field; elsewhere such cells are not in the output
        square = height_of_three<T, N>(above[i], below[i], before, after, drawn, round3);
      else
        square = height_of_four<T, N>(above[i], below[i], before, after, drawn, round4);
      store(line, 2 * i - left, square, after);
    }
  }
};

/// Where a tile begins.
struct TilePlace {
  std::int64_t row, col;
  __device__ TilePlace(const Pass& pass, unsigned tile)
      : row(pass.tile_row + static_cast<std::int64_t>(tile / pass.tiles_across) * (pass.step << pass.levels)),
        col(pass.tile_col +
            static_cast<std::int64_t>(tile % pass.tiles_across) * (pass.step << pass.levels)) {}
};

/// The same as coarser_span, in steps of the pass from the tile's first cell; `low` and `high` are the
/// field's ends.
__device__ inline void plan_axis(const Pass& pass, std::int64_t first, CellSpan whole, int* begin,
                                 int* count) {
  constexpr std::int64_t kFar = 1 << 20;
  const auto near = [&](std::int64_t v) {  // exact where it is near
    const std::int64_t steps = (v - first) >> pass.step_bits;
    return static_cast<int>(steps < -kFar ? -kFar : steps > kFar ? kFar : steps);
  };
  const int low = pass.side >= 0 ? near(0) : -static_cast<int>(kFar),
            high = pass.side >= 0 ? near(pass.side) : static_cast<int>(kFar);
  const int size = 1 << pass.levels;
  int from = near(whole.first), to = near(whole.last);
  from = from > 0 ? from : 0, to = to < size - 1 ? to : size - 1;
  for (int i = 0; i <= pass.levels; ++i) {
    begin[i] = from, count[i] = ((to - from) >> i) + 1;
    const int step = 2 << i, half = 1 << i;
    from = (from - half) & ~(step - 1), to = (to + half + step - 1) & ~(step - 1);
    from = from > low ? from : low, to = to < high ? to : high;
  }
}

template <class T>
__device__ void load_start(const Pass& pass, std::uint32_t channel, const TilePlace& tile,
                           const Window& window, T* grid, int pitch) {
  const int bits = pass.step_bits + pass.levels;
  const std::int64_t step = std::int64_t{1} << bits;
  const std::int64_t row = tile.row + window.row * pass.step, col = tile.col + window.col * pass.step;
  const char* in = static_cast<const char*>(pass.in) + static_cast<std::ptrdiff_t>(channel) * pass.in_plane;
  if (threadIdx.x >= static_cast<unsigned>(window.rows * window.cols)) return;  // there are few
  const int r = static_cast<int>(threadIdx.x) / window.cols,
            c = static_cast<int>(threadIdx.x) - r * window.cols;
  grid[r * pitch + c] =
      pass.in == nullptr
          ? corner_of<T>(pass, row + r * step, col + c * step, channel)
          : reinterpret_cast<const T*>(in + (((row - pass.in_row) >> bits) + r) *
                                                pass.in_pitch)[((col - pass.in_col) >> bits) + c];
}

template <class T>
__device__ void store_tile(const Pass& pass, std::uint32_t channel, const TilePlace& tile,
                           const Window& window, const T* grid) {
  char* out = static_cast<char*>(pass.out) + static_cast<std::ptrdiff_t>(channel) * pass.out_plane +
              (((tile.row - pass.rows.first) >> pass.step_bits) + window.row) * pass.out_pitch +
              (((tile.col - pass.cols.first) >> pass.step_bits) + window.col) * pass.out_cell;
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

/// Refines the block's cells by one level.
template <class T, bool kEven>
__device__ void refine_level(const Pass& pass, std::uint32_t channel, const TilePlace& tile, int level,
                             TileShared<T>& shared) {
  const Window from = shared.window(level + 1);
  const std::int64_t first = tile.row + from.row * pass.step;
  const bool finite = pass.side >= 0;
  const LevelOfTile<T, kEven> one{pass,
                                  pass.rules[level],
                                  channel,
                                  static_cast<std::uint32_t>(tile.row),
                                  static_cast<std::uint32_t>(tile.col),
                                  level,
                                  from,
                                  shared.window(level),
                                  finite && first == 0,
                                  finite && first + ((from.rows - 1) << (level + 1)) * pass.step == pass.side,
                                  kEven ? shared.coarse : shared.fine,
                                  shared.diamonds,
                                  kEven ? shared.fine : shared.coarse};
  one.make_diamonds();
  __syncthreads();
  one.make_squares();
  __syncthreads();
}

template <class T>
__global__ void __launch_bounds__(kThreads, kBlocks) refine_tiles(const __grid_constant__ Pass pass) {
  auto& shared = block_shared<TileShared<T>>();
  const std::uint32_t channel = blockIdx.x / pass.tiles;
  const TilePlace tile(pass, blockIdx.x - channel * pass.tiles);
  if (threadIdx.x == 0) plan_axis(pass, tile.row, pass.rows, shared.first_row, shared.rows);
  if (threadIdx.x == 32) plan_axis(pass, tile.col, pass.cols, shared.first_col, shared.cols);
  __syncthreads();
  if (pass.levels % 2 == 0)
    load_start(pass, channel, tile, shared.window(pass.levels), shared.fine, kPitch<true>);
  else
    load_start(pass, channel, tile, shared.window(pass.levels), shared.coarse, kPitch<false>);
  __syncthreads();
  if (pass.levels % 2 != 0) refine_level<T, true>(pass, channel, tile, pass.levels - 1, shared);
  for (int level = pass.levels - pass.levels % 2; level > 0; level -= 2) {
    refine_level<T, false>(pass, channel, tile, level - 1, shared);
    refine_level<T, true>(pass, channel, tile, level - 2, shared);
  }
  store_tile(pass, channel, tile, shared.window(0), shared.fine);
}

}  // namespace contorno::diamond_square_cuda
