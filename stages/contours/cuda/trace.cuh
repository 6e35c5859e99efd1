// The kernels that trace tiles: that take a tile through the steps 1 to 6.
//
//   Reads   every sample (1.05 times), and the two samples of every crossed edge again
//   Writes  what write.cuh says; dense_tiles
//
// In trace_blocks a block works on a tile. It is for small maps, in which all tiles run at once, and for
// dense tiles of large maps. In trace_warps a warp works on a tile. It is for large maps, in which most tiles
// have few segments or none, and it only lists dense tiles, which have more segments than a warp has room
// for. Blocks of trace_warps stay on their multiprocessor, one each, and their warps fetch tile after tile:
// to start a new block would take a microsecond, a fifth of the time for a tile.
#pragma once

#include "stages/contours/cuda/link_exact.cuh"
#include "stages/contours/cuda/rank.cuh"
#include "stages/contours/cuda/read_block.cuh"
#include "stages/contours/cuda/read_warp.cuh"
#include "stages/contours/cuda/write.cuh"

namespace contorno::contour_engine {

inline constexpr int kBlockThreads = kBitsThreads;
inline constexpr int kWarpThreads = 32;
inline constexpr unsigned kMostWarps = 20;  ///< warps of a block; with more a thread has too few registers
using WarpLinks = PackedLinks<9, 384>;

/// The steps 3 to 6 of a tile whose cells are known and whose segments are counted: at least one, and at most
/// as many as its links have room for.
template <class S>
__device__ __forceinline__ void trace_segments(Tile<S>& tile) {
  allocate_segments(tile);
  list_segments(tile);
  if (tile.shared.bits.unusual != 0)
    link_exact<S>(tile.group, tile.shared, tile.bounds, tile.segments);
  else
    link_over_edges(tile);
  rank_segments(tile);
  publish_segment_base(tile);
  tile.sync();
  collect_pieces(tile);
  find_leaders(tile);
  write_tile(tile);
}

struct BlockShared {
  TileShared<WideLinks> tile;
  ReadShared read;
};

/// Traces the first `tiles` tiles, or if there are none the dense ones. With several levels only the device
/// knows how many there are.
template <class T, class P, bool kLevels>
__global__ void __launch_bounds__(kBlockThreads, 2)
    trace_blocks(const __grid_constant__ PlaneGroup<P> group, unsigned tiles) {
  let_next_begin();
  wait_for_previous();
  BlockShared& s = block_shared<BlockShared>();
  if (kLevels && tiles != 0) tiles = near_tile_count(group);
  const unsigned count = tiles != 0 ? tiles : group.work.counters->dense_tiles;
  for (unsigned n = blockIdx.x; n < count; n += gridDim.x) {
    __syncthreads();
    const TileBounds bounds = tiles != 0 ? bounds_of_nth(group, static_cast<int>(n))
                                         : bounds_of_tile(group, static_cast<int>(group.work.dense_tiles[n]));
    read_by_block<T>(group, bounds, s.tile.bits, s.read);
    Tile<TileTypes<T, P, WideLinks, kBlockThreads, kLevels>> tile(group, s.tile, bounds);
    if (count_segments(tile) != 0)
      trace_segments(tile);
    else if (!kLevels && threadIdx.x == 0)
      group.work.tile_pieces[bounds.tile] = {0, 0};
  }
}

/// Shared memory of a block of trace_warps, which works on every gridDim.x-th tile. Only bytes(warps) of it
/// are allocated.
struct WarpsShared {
  alignas(16) unsigned next;  ///< the next of the block's tiles that a warp works on
  TileShared<WarpLinks> tile[kMostWarps];
  static constexpr std::size_t bytes(unsigned warps) {
    return sizeof(WarpsShared) - (kMostWarps - warps) * sizeof(TileShared<WarpLinks>);
  }
};

/// Traces one tile with one warp.
template <class T, bool kLevels, class P>
__device__ __forceinline__ void trace_tile(const PlaneGroup<P>& group, const TileBounds& bounds,
                                           TileShared<WarpLinks>& s) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  if (!read_by_warp<T>(group, bounds, s.bits)) {
    if (!kLevels && lane == 0) group.work.tile_pieces[bounds.tile] = {0, 0};
    return;
  }
  Tile<TileTypes<T, P, WarpLinks, kWarpThreads, kLevels>> tile(group, s, bounds);
  if (count_segments(tile) <= static_cast<int>(WarpLinks::kCapacity)) {
    trace_segments(tile);
    return;
  }
  if (lane == 0)
    group.work.dense_tiles[atomicAdd(&group.work.counters->dense_tiles, 1U)] =
        static_cast<unsigned>(bounds.tile);
}

/// The tiles of a block of trace_warps: every gridDim.x-th one. Near tiles are listed tile by tile, so a
/// block works on kNearAtOnce of them one after the other: they mostly are the same samples.
inline constexpr unsigned kNearAtOnce = 16;
template <class P>
__device__ __forceinline__ unsigned tile_of_block(const PlaneGroup<P>& group, unsigned mine) {
  if (group.by_level == 0) return mine * gridDim.x + blockIdx.x;
  return (mine / kNearAtOnce * gridDim.x + blockIdx.x) * kNearAtOnce + mine % kNearAtOnce;
}

/// Traces `tiles` tiles; of several levels, the near tiles, whose number only the device knows.
template <class T, class P, bool kLevels>
__global__ void __launch_bounds__(kWarpThreads* kMostWarps, 1)
    trace_warps(const __grid_constant__ PlaneGroup<P> group, unsigned tiles) {
  let_next_begin();
  wait_for_previous();
  WarpsShared& s = block_shared<WarpsShared>();
  if (threadIdx.x == 0) s.next = blockDim.x / kWarpThreads;
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarpThreads;
  const unsigned count = kLevels ? near_tile_count(group) : tiles;
  unsigned mine = warp;
  for (unsigned n; (n = tile_of_block(group, mine)) < count;) {
    trace_tile<T, kLevels>(group, bounds_of_nth(group, static_cast<int>(n)), s.tile[warp]);
    __syncwarp();
    if (threadIdx.x % kWarpThreads == 0) mine = atomicAdd(&s.next, 1U);
    mine = __shfl_sync(~0U, mine, 0);
  }
}

}  // namespace contorno::contour_engine
