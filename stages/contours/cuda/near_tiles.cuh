// Several levels of channels: which tiles are near which levels, so that the steps 1 to 6 visit these alone.
//
//   Reads   every sample (1.05 times), levels
//   Writes  offsets, tiles; clears strips, strip_first, status
//
// A level that is not between the least and the greatest sample of a tile crosses no cell of it. The levels
// of a channel are in ascending order, so those that a tile is near follow each other. A near tile, a pair of
// a tile and a level, has a number, which takes the place that the number of a tile has where each channel
// has one level: arrays of tiles have as many elements as there are near tiles.
#pragma once

#include "stages/contours/cuda/level.cuh"
#include "stages/contours/cuda/number_levels.cuh"

namespace contorno::contour_engine {

inline constexpr int kNearThreads = 128;

/// The number of a tile of a plane. With several levels the tile must be near the plane.
template <class P>
__device__ __noinline__ unsigned near_tile_number(const PlaneGroup<P>& group, int plane, int tile) {
  const NearTiles& near = group.work.near;
  return near.offsets[near.levels[plane].entry.channel * (group.tiles_x * group.tiles_y) + tile] +
         static_cast<unsigned>(plane);
}
template <class P>
__device__ __forceinline__ unsigned tile_number(const PlaneGroup<P>& group, int plane, int tile) {
  if (group.by_level != 0) return near_tile_number(group, plane, tile);
  return static_cast<unsigned>(plane * (group.tiles_y * group.tiles_x) + tile);
}

/// Tiles of all channels.
template <class P>
CONTORNO_HD unsigned channel_tiles(const PlaneGroup<P>& group) {
  return static_cast<unsigned>(group.work.near.channels * group.tiles_y * group.tiles_x);
}

/// How many near tiles there are. More than there is room for are none.
template <class P>
__device__ __forceinline__ unsigned near_tile_count(const PlaneGroup<P>& group) {
  const unsigned long long count = group.work.counters->near_tiles;
  return count <= group.tile_capacity ? static_cast<unsigned>(count) : 0;
}

/// Least and greatest sample of a tile. NaN do not count; where there is nothing else the least is above the
/// greatest.
template <class Value>
struct TileRange {
  Value low, high;
};

/// Finds the range of a tile. Called by whole warps; all loads of a lane are in flight together.
template <class T>
__device__ __forceinline__ TileRange<typename Sample<T>::Value> range_of(const Map& map,
                                                                         const TileBounds& bounds) {
  using Value = typename Sample<T>::Value;
  const unsigned char* const plane = map.data + bounds.channel * map.plane_pitch;
  const int lane = static_cast<int>(threadIdx.x) % 32, last_row = map.height - 1;
  TileRange<Value> range{static_cast<Value>(INFINITY), static_cast<Value>(-INFINITY)};
  const auto add = [&](Value v) {
    range.low = static_cast<Value>(fmin(range.low, v));
    range.high = static_cast<Value>(fmax(range.high, v));
  };
  const auto at = [&](int row, int col) {
    return plane + min(bounds.row0 + row, last_row) * map.row_pitch +
           min(bounds.col0 + col, map.width - 1) * map.sample_pitch;
  };
  static_assert(kTileColumns == 64 && kTileRows == 32);  // two columns a lane, and the last one by rows
  const unsigned char *left = at(0, lane), *right = at(0, 32 + lane);
#pragma unroll
  for (int row = 0; row <= kTileRows; ++row) {
    add(Sample<T>::read(left));
    add(Sample<T>::read(right));
    const long long down = bounds.row0 + row < last_row ? map.row_pitch : 0;
    left += down, right += down;
  }
  add(Sample<T>::read(at(lane, kTileColumns)));
  add(Sample<T>::read(at(kTileRows, kTileColumns)));
  for (int mask = 16; mask > 0; mask /= 2) {
    const TileRange<Value> other{__shfl_xor_sync(~0U, range.low, mask),
                                 __shfl_xor_sync(~0U, range.high, mask)};
    add(other.low);
    add(other.high);
  }
  return range;
}

/// Two positions, for the least and for the greatest sample of a tile: the first one that is of `channel` and
/// whose threshold is not below that sample (levels that are NaN are of these), or is of a later channel.
/// Called by whole warps.
template <class T, class P>
__device__ __forceinline__ uint2 first_not_below(const PlaneGroup<P>& group, int channel,
                                                 const TileRange<typename Sample<T>::Value>& range) {
  const auto planes = static_cast<unsigned>(group.planes);
  unsigned begin[2] = {0, 0}, end[2] = {planes, planes};
  while (begin[0] < end[0] || begin[1] < end[1]) {
#pragma unroll
    for (int k = 0; k < 2; ++k) {
      const unsigned step = (end[k] - begin[k] + 31) / 32, at = begin[k] + threadIdx.x % 32 * step;
      bool below = false;
      if (at < end[k]) {
        const LevelEntry entry = group.work.near.levels[at].entry;
        below = entry.channel < channel ||
                (entry.channel == channel &&
                 LevelTest<T>(group.map, entry).threshold < (k == 0 ? range.low : range.high));
      }
      // Those below come first.
      const auto lanes = static_cast<unsigned>(__popc(__ballot_sync(~0U, below)));
      end[k] = min(begin[k] + lanes * step, end[k]);
      if (lanes != 0) begin[k] += (lanes - 1) * step + 1;
    }
  }
  return {begin[0], begin[1]};
}

/// What the warps of a block share while they allocate near tiles.
struct NearShared {
  unsigned count[kNearThreads / 32];  ///< near tiles of each warp's tile
  unsigned long long first_near;
};

/// Allocates numbers for a tile that is near `count` levels, with one atomic a block; returns the first.
/// Called by all threads of it.
__device__ __forceinline__ unsigned long long allocate_near(Counters& counters, unsigned count) {
  NearShared& s = block_shared<NearShared>();
  if (threadIdx.x % 32 == 0) s.count[threadIdx.x / 32] = count;
  __syncthreads();
  unsigned before = 0, all = 0;  // of the warps before this one, and of all
#pragma unroll
  for (unsigned k = 0; k < kNearThreads / 32; ++k) {
    if (k == threadIdx.x / 32) before = all;
    all += s.count[k];
  }
  if (threadIdx.x == 0 && all != 0)
    s.first_near = atomicAdd(&counters.near_tiles, static_cast<unsigned long long>(all));
  __syncthreads();
  return s.first_near + before;
}

/// Clears what is counted while contours are numbered.
__device__ __forceinline__ void clear_strips(const NearTiles& near, unsigned strips, unsigned chunks) {
  const unsigned first = blockIdx.x * kNearThreads + threadIdx.x, stride = gridDim.x * kNearThreads;
  for (unsigned i = first; i < strips; i += stride) near.strips[i] = 0, near.strip_first[i] = kNone;
  for (unsigned i = first; i < chunks; i += stride) near.status[i] = 0;
}

/// Finds the near tiles: allocates their numbers, and lists them and their tiles. Called with a warp for each
/// tile of each channel, or with more.
template <class T, class P>
__global__ void __launch_bounds__(kNearThreads, 1024 / kNearThreads)
    find_near_tiles(const __grid_constant__ PlaneGroup<P> group) {
  let_next_begin();
  const NearTiles& near = group.work.near;
  const unsigned lane = threadIdx.x % 32, tile = blockIdx.x * (kNearThreads / 32) + threadIdx.x / 32;
  const bool has_tile = tile < channel_tiles(group);
  TileBounds bounds{};
  TileRange<typename Sample<T>::Value> range{};
  if (has_tile) {
    bounds = bounds_in_channels(group, static_cast<int>(tile));
    range = range_of<T>(group.map, bounds);
  }
  wait_for_previous();  // scatter_points of other planes, which does not write the map
  clear_strips(near, strip_count(group), strip_chunks(group));
  uint2 levels{};  // first and end
  // A level crosses samples if one is above it and another is not.
  if (has_tile) levels = first_not_below<T>(group, bounds.channel, range);
  const unsigned first = levels.x, count = levels.y > first ? levels.y - first : 0;
  const unsigned long long at = allocate_near(*group.work.counters, count);
  if (count == 0) {
    if (lane == 0 && has_tile) near.offsets[tile] = 0;  // loaded, but not used, when its neighbour is traced
    return;
  }
  if (at + count > group.tile_capacity) {
    // The frame is run again, with room for so many points that the near tiles fit, too.
    if (lane != 0) return;
    Counters& counters = *group.work.counters;
    counters.full = 1;
    atomicMax(&counters.segments, static_cast<unsigned>(min((at + count) * kTilePoints, 0x7FFFFFFFULL)));
    return;
  }
  const auto from = static_cast<unsigned>(at);
  for (unsigned k = lane; k < count; k += 32) near.tiles[from + k] = {first + k, tile};
  if (lane == 0) near.offsets[tile] = from - first;
}

}  // namespace contorno::contour_engine
