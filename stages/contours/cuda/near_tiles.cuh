// Several levels of channels: which tiles are near which levels, so that the steps 1 to 6 visit these alone.
//
//   Reads   ranges
//   Writes  NearTiles: a bit for every plane and tile, how many near ones come before each word of bits, and
//           a list of them by number, which is in the order of planes and rasters; also the tiles of each
//           channel with the levels that they are near (tile_levels.cuh)
//
// A near tile's number is how many near tiles there are before it, by counting bits. It takes the place that
// the number of a tile has where each channel has one level: arrays of tiles have as many elements as there
// are near tiles.
#pragma once

#include <algorithm>

#include "cuda/host_device.h"
#include "stages/contours/cuda/chunk_scan.cuh"
#include "stages/contours/cuda/tile_levels.cuh"

namespace contorno::contour_engine {

inline constexpr int kNearThreads = 256;

/// Some levels on their way into device memory: as many as an argument has room for. P: the .cu file for each
/// type of points has a kernel of its own.
struct LevelEntries {
  static constexpr int kMost = 200;
  int first, count;
  LevelEntry entry[kMost];
  unsigned ascending[kMost];  ///< as in NearTiles, from position `first` on
};
template <class P>
__global__ void __launch_bounds__(kNearThreads)
    store_levels(const __grid_constant__ LevelEntries some, LevelEntry* levels, unsigned* ascending) {
  const auto k = static_cast<int>(threadIdx.x);
  if (k >= some.count) return;
  levels[some.first + k] = some.entry[k];
  ascending[some.first + k] = some.ascending[k];
}

/// How many near tiles come before tile `tile` of a plane; `tile` may be the number of all tiles of the
/// plane.
__device__ __forceinline__ unsigned near_before(const NearTiles& near, unsigned plane, unsigned tile) {
  const std::size_t word = static_cast<std::size_t>(plane) * near.row_words + tile / 32;
  return near.before[word] + static_cast<unsigned>(__popc(near.words[word] & ((1U << tile % 32) - 1)));
}

/// The number of a tile of a plane. With several levels the tile must be near the plane.
template <class P>
__device__ __noinline__ unsigned near_tile_number(const PlaneGroup<P>& group, int plane, int tile) {
  return near_before(group.work.near, static_cast<unsigned>(plane), static_cast<unsigned>(tile));
}
template <class P>
__device__ __forceinline__ unsigned tile_number(const PlaneGroup<P>& group, int plane, int tile) {
  if (group.by_level != 0) return near_tile_number(group, plane, tile);
  return static_cast<unsigned>(plane * (group.tiles_y * group.tiles_x) + tile);
}

/// Chunks of rank_near_tiles.
template <class P>
CONTORNO_HD unsigned rank_chunks(const PlaneGroup<P>& group) {
  const std::size_t words = static_cast<std::size_t>(group.planes) * group.work.near.row_words;
  return static_cast<unsigned>((words + kChunk - 1) / kChunk);
}

/// A warp's part of all pairs: 32 tiles, a lane each, and 32 planes. False: it has none.
struct NearBlock {
  int tile, plane, planes;  ///< the lane's tile, the first plane, and how many planes
};
template <class P>
__device__ __forceinline__ bool near_block(const PlaneGroup<P>& group, NearBlock& block) {
  const unsigned warp = blockIdx.x * (kNearThreads / 32) + threadIdx.x / 32;
  const unsigned words = group.work.near.row_words;
  if (words == 0) return false;
  block.tile = static_cast<int>(warp % words * 32 + threadIdx.x % 32);
  block.plane = static_cast<int>(warp / words * 32);
  block.planes = min(32, group.planes - block.plane);
  return block.planes > 0;
}

/// Blocks of the kernels that have a warp for each such part: at least one.
template <class P>
CONTORNO_HD unsigned near_blocks(const PlaneGroup<P>& group) {
  const std::size_t parts = static_cast<std::size_t>((group.planes + 31) / 32) * group.work.near.row_words;
  return parts == 0 ? 1 : static_cast<unsigned>((parts + kNearThreads / 32 - 1) / (kNearThreads / 32));
}

/// Blocks of mark_near_tiles: those, and a thread for each tile of each channel.
template <class P>
unsigned mark_blocks(const PlaneGroup<P>& group) {
  const auto tiles = static_cast<unsigned>(group.work.near.channels * group.tiles_y * group.tiles_x);
  return near_blocks(group) + (tiles + kNearThreads - 1) / kNearThreads;
}

/// Whether a plane's level crosses no cell of a tile, as far as the range tells.
template <class T, class P>
__device__ __forceinline__ bool is_apart(const PlaneGroup<P>& group, const TileRange& range, int plane) {
  const auto threshold = static_cast<double>(LevelTest<T>(group, plane).threshold);
  return !(range.high > threshold) || range.low > threshold;
}

/// Writes the bits and the tiles of each channel, and clears what the scans have published. Called with a
/// warp for 32 tiles and 32 planes, and a thread for each tile of each channel (mark_blocks).
template <class T, class P>
__global__ void __launch_bounds__(kNearThreads) mark_near_tiles(const __grid_constant__ PlaneGroup<P> group) {
  const NearTiles& near = group.work.near;
  for (unsigned i = blockIdx.x * kNearThreads + threadIdx.x; i < near.statuses; i += gridDim.x * kNearThreads)
    near.status[i] = {0, 0};
  const unsigned blocks = near_blocks(group);
  if (blockIdx.x >= blocks) {
    list_tile_levels<T>(group, (blockIdx.x - blocks) * kNearThreads + threadIdx.x);
    return;
  }
  NearBlock at;
  if (!near_block(group, at)) return;
  const unsigned lane = threadIdx.x % 32;
  const bool exists = at.tile < group.tiles_x * group.tiles_y;
  unsigned own = 0;
  TileRange range{INFINITY, -INFINITY};
  for (int k = 0, channel = -1; k < at.planes; ++k) {
    const int of = near.levels[at.plane + k].channel;
    if (exists && of != channel) range = near.ranges[of * (group.tiles_x * group.tiles_y) + at.tile];
    channel = of;
    const unsigned word = __ballot_sync(~0U, !is_apart<T>(group, range, at.plane + k));
    if (lane == static_cast<unsigned>(k)) own = word;
  }
  if (static_cast<int>(lane) < at.planes)
    near.words[(static_cast<std::size_t>(at.plane) + lane) * near.row_words +
               static_cast<unsigned>(at.tile) / 32] = own;
}

/// Writes down how many near tiles there are. More than there is room for are none, and the group is full.
template <class P>
__device__ __forceinline__ void write_near_count(const PlaneGroup<P>& group, unsigned long long count) {
  Counters& counters = *group.work.counters;
  if (count <= group.tile_capacity) {
    counters.near_tiles = static_cast<unsigned>(count);
    return;
  }
  // As many points as it takes to have room for them.
  counters.full = 1;
  counters.segments = static_cast<unsigned>(min(count * kTilePoints, 0x7FFFFFFFULL));
}

/// Counts the near tiles before each word. Called by as many blocks as fit.
template <class P>
__global__ void __launch_bounds__(kChunkThreads)
    rank_near_tiles(const __grid_constant__ PlaneGroup<P> group) {
  ChunkShared& s = block_shared<ChunkShared>();
  const NearTiles& near = group.work.near;
  const std::size_t words = static_cast<std::size_t>(group.planes) * near.row_words;
  const unsigned chunks = rank_chunks(group);
  if (words == 0) return;
  for (unsigned chunk; (chunk = take_chunk(&group.work.counters->rank_chunks, s)) < chunks;) {
    const std::size_t first = static_cast<std::size_t>(chunk) * kChunk + threadIdx.x * kChunkEach;
    unsigned count[kChunkEach] = {};
    unsigned own = 0;
#pragma unroll
    for (unsigned k = 0; k < kChunkEach; ++k) {
      if (first + k < words) count[k] = static_cast<unsigned>(__popc(near.words[first + k]));
      own += count[k];
    }
    unsigned long long before = scan_chunk(near.status, chunk, own, s);
#pragma unroll
    for (unsigned k = 0; k < kChunkEach; ++k) {
      if (first + k < words) near.before[first + k] = static_cast<unsigned>(before);
      before += count[k];
      if (first + k + 1 != words) continue;
      near.words[words] = 0;
      near.before[words] = static_cast<unsigned>(before);
      write_near_count(group, before);
    }
  }
}

/// Writes the list of near tiles. Called with a warp for 32 tiles and 32 planes.
template <class P>
__global__ void __launch_bounds__(kNearThreads) list_near_tiles(const __grid_constant__ PlaneGroup<P> group) {
  const NearTiles& near = group.work.near;
  NearBlock at;
  if (group.work.counters->near_tiles == 0 || !near_block(group, at)) return;
  const unsigned lane = threadIdx.x % 32;
  const std::size_t word =
      (static_cast<std::size_t>(at.plane) + lane) * near.row_words + static_cast<unsigned>(at.tile) / 32;
  const bool has_plane = static_cast<int>(lane) < at.planes;
  const unsigned plane_word = has_plane ? near.words[word] : 0,
                 plane_before = has_plane ? near.before[word] : 0;
  for (int k = 0; k < 32; ++k) {
    const unsigned tiles = __shfl_sync(~0U, plane_word, k), before = __shfl_sync(~0U, plane_before, k);
    if ((tiles >> lane & 1) == 0) continue;
    const unsigned number = before + static_cast<unsigned>(__popc(tiles & ((1U << lane) - 1)));
    const int tile = near.levels[at.plane + k].channel * (group.tiles_x * group.tiles_y) + at.tile;
    near.tiles[number] = {static_cast<unsigned>(at.plane + k), static_cast<unsigned>(tile)};
  }
}

}  // namespace contorno::contour_engine
