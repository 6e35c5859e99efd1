// The kernels that trace tiles: that take a tile through the steps 1 to 6.
//
//   Reads   every sample (1.05 times), and the two samples of every crossed edge again
//   Writes  what write.cuh says; dense_tiles and tile_bits
//
// trace_small is for small maps, in which all tiles run at once: a block works on a tile. trace_tiles is for
// large maps, in which most tiles have few segments or none: a warp works on a tile, and leaves the cells of
// dense tiles, which have more segments than it has room for, to trace_dense. Blocks of trace_tiles stay on
// their multiprocessor, one each, and their warps fetch tile after tile: to start a new block would take a
// microsecond, a fifth of the time for a tile.
#pragma once

#include "stages/contours/cuda/link_exact.cuh"
#include "stages/contours/cuda/rank.cuh"
#include "stages/contours/cuda/read_block.cuh"
#include "stages/contours/cuda/read_warp.cuh"
#include "stages/contours/cuda/write.cuh"

namespace contorno::contour_engine {

inline constexpr int kSmallThreads = kBitsThreads;
inline constexpr int kWarpThreads = 32;
inline constexpr unsigned kMostWarps = 20;  ///< warps of a block; with more a thread has too few registers
using WarpLinks = PackedLinks<9, 384>;
inline constexpr int kDenseThreads = 512;

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

struct SmallShared {
  TileShared<WideLinks> tile;
  ReadShared read;
};

template <class T, class P>
__global__ void __launch_bounds__(kSmallThreads, 2) trace_small(const __grid_constant__ PlaneGroup<P> group) {
  let_next_begin();
  wait_for_previous();
  SmallShared& s = block_shared<SmallShared>();
  const TileBounds bounds = bounds_of_nth(group, static_cast<int>(blockIdx.x));
  read_by_block<T>(group, bounds, s.tile.bits, s.read);
  Tile<TileTypes<T, P, WideLinks, kSmallThreads>> tile(group, s.tile, bounds);
  if (count_segments(tile) != 0)
    trace_segments(tile);
  else if (threadIdx.x == 0)
    group.work.tile_pieces[bounds.tile] = {0, 0};
}

/// Shared memory of a block of trace_tiles, which works on every gridDim.x-th tile. Only bytes(warps) of it
/// are allocated.
struct WarpsShared {
  alignas(16) unsigned next;  ///< of the block's tiles, the next that a warp works on
  TileShared<WarpLinks> tile[kMostWarps];
  static constexpr std::size_t bytes(unsigned warps) {
    return sizeof(WarpsShared) - (kMostWarps - warps) * sizeof(TileShared<WarpLinks>);
  }
};

/// Copies the cells of a tile, with `kThreads` threads.
template <int kThreads>
__device__ __forceinline__ void copy_bits(TileBits& to, const TileBits& from) {
  for (unsigned i = threadIdx.x % kThreads; i < sizeof(TileBits) / 16; i += kThreads)
    reinterpret_cast<uint4*>(&to)[i] = reinterpret_cast<const uint4*>(&from)[i];
}

/// Traces one tile with one warp.
template <class T, class P>
__device__ __forceinline__ void trace_tile(const PlaneGroup<P>& group, const TileBounds& bounds,
                                           TileShared<WarpLinks>& s) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  if (!read_by_warp<T>(group, bounds, s.bits)) {
    if (lane == 0) group.work.tile_pieces[bounds.tile] = {0, 0};
    return;
  }
  Tile<TileTypes<T, P, WarpLinks, kWarpThreads>> tile(group, s, bounds);
  if (count_segments(tile) <= static_cast<int>(WarpLinks::kCapacity)) {
    trace_segments(tile);
    return;
  }
  unsigned at = 0;
  if (lane == 0) {
    at = atomicAdd(&group.work.counters->dense_tiles, 1U);
    group.work.dense_tiles[at] = static_cast<unsigned>(bounds.tile);
  }
  at = __shfl_sync(~0U, at, 0);
  copy_bits<kWarpThreads>(group.work.tile_bits[at], s.bits);
}

template <class T, class P>
__global__ void __launch_bounds__(kWarpThreads* kMostWarps, 1)
    trace_tiles(const __grid_constant__ PlaneGroup<P> group, unsigned tiles) {
  let_next_begin();
  wait_for_previous();
  WarpsShared& s = block_shared<WarpsShared>();
  if (threadIdx.x == 0) s.next = blockDim.x / kWarpThreads;
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarpThreads;
  for (unsigned mine = warp; mine * gridDim.x + blockIdx.x < tiles;) {
    trace_tile<T>(group, bounds_of_nth(group, static_cast<int>(mine * gridDim.x + blockIdx.x)), s.tile[warp]);
    __syncwarp();
    if (threadIdx.x % kWarpThreads == 0) mine = atomicAdd(&s.next, 1U);
    mine = __shfl_sync(~0U, mine, 0);
  }
}

template <class T, class P>
__global__ void __launch_bounds__(kDenseThreads, 2) trace_dense(const __grid_constant__ PlaneGroup<P> group) {
  let_next_begin();
  wait_for_previous();
  TileShared<WideLinks>& s = block_shared<TileShared<WideLinks>>();
  const unsigned tiles = group.work.counters->dense_tiles;
  for (unsigned at = blockIdx.x; at < tiles; at += gridDim.x) {
    __syncthreads();
    copy_bits<kDenseThreads>(s.bits, group.work.tile_bits[at]);
    const TileBounds bounds = bounds_of_tile(group, static_cast<int>(group.work.dense_tiles[at]));
    __syncthreads();
    Tile<TileTypes<T, P, WideLinks, kDenseThreads>> tile(group, s, bounds);
    count_segments(tile);
    trace_segments(tile);
  }
}

}  // namespace contorno::contour_engine
