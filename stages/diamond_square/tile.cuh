// The kernel refine_tiles of Diamond-Square: each block makes up to six levels of one tile in shared memory.
// The cells around the tile that it needs are computed by every block that needs them, which is possible
// because a cell's random number follows from its position.
#pragma once

#include "stages/diamond_square/level.cuh"

namespace contorno::diamond_square_cuda {

/// The first cell of a tile, in cells of the field.
struct TilePlace {
  std::int64_t row, col;
  __device__ TilePlace(const Pass& pass, unsigned tile)
      : row(pass.tile_row + static_cast<std::int64_t>(tile / pass.tiles_across) * (pass.step << pass.levels)),
        col(pass.tile_col +
            static_cast<std::int64_t>(tile % pass.tiles_across) * (pass.step << pass.levels)) {}
};

/// For each level, the first row (or column) around the tile that is needed and how many there are, as
/// coarser_span gives them; counted from the tile's first cell in cells of the pass's finest level. `first`
/// is the tile's first row, `whole` the rows of the output.
__device__ inline void plan_axis(const Pass& pass, std::int64_t first, CellSpan whole, int* begin,
                                 int* count) {
  constexpr std::int64_t kFar = 1 << 20;
  const auto near = [&](std::int64_t v) {  // limited to kFar, which is exact enough
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

/// Makes one level of the block's tile from the coarser one.
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
