// Several levels of channels: the least and the greatest sample of each tile, found once for all levels.
//
//   Reads   every sample (1.05 times)
//   Writes  ranges
//
// A level that is not between the two crosses no cell of the tile: the tile is not near it. Most tiles are
// near few levels. All loads of a lane are in flight together.
#pragma once

#include "stages/contours/cuda/level.cuh"

namespace contorno::contour_engine {

inline constexpr int kRangeThreads = 256;

/// A warp a tile, of all channels. NaN do not count; a tile of nothing else is near no level.
template <class T, class P>
__global__ void __launch_bounds__(kRangeThreads, 2) find_ranges(const __grid_constant__ PlaneGroup<P> group) {
  using Value = typename Sample<T>::Value;
  const int tile = static_cast<int>(blockIdx.x * (kRangeThreads / 32) + threadIdx.x / 32);
  const int channel = tile / (group.tiles_x * group.tiles_y);
  if (channel >= group.work.near.channels) return;
  const Map& map = group.map;
  const unsigned char* const plane = map.data + channel * map.plane_pitch;
  const int row0 = tile / group.tiles_x % group.tiles_y * kTileRows;
  const int col0 = tile % group.tiles_x * kTileColumns;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  auto low = static_cast<Value>(INFINITY), high = static_cast<Value>(-INFINITY);
  const auto add = [&](Value v) {
    low = v < low ? v : low;
    high = v > high ? v : high;
  };
  const auto column = [&](int col) { return plane + min(col0 + col, map.width - 1) * map.sample_pitch; };
  const unsigned char *const left = column(lane), *const right = column(32 + lane),
                             *const last = column(kTileColumns);
#pragma unroll
  for (int k = 0; k <= kTileRows; ++k) {
    const long long line = min(row0 + k, map.height - 1) * map.row_pitch;
    add(Sample<T>::read(left + line));
    add(Sample<T>::read(right + line));
  }
  add(Sample<T>::read(last + min(row0 + lane, map.height - 1) * map.row_pitch));
  add(Sample<T>::read(last + min(row0 + kTileRows, map.height - 1) * map.row_pitch));
  for (int mask = 16; mask > 0; mask /= 2) {
    add(__shfl_xor_sync(~0U, low, mask));
    add(__shfl_xor_sync(~0U, high, mask));
  }
  if (lane == 0) group.work.near.ranges[tile] = {static_cast<double>(low), static_cast<double>(high)};
}

}  // namespace contorno::contour_engine
