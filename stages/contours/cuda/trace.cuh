// The kernels that trace tiles: that take each tile through all its steps.
//
// trace_small is for small maps, in which all tiles run at once: a block works on a tile. trace_tiles is for
// large maps, in which most tiles have few segments or none: a warp works on a tile, and leaves the cells of
// tiles with many segments to trace_dense. Blocks of trace_tiles stay on their multiprocessor, one each, and
// their warps take tile after tile: to start a new block would take a microsecond, a fifth of the time for a
// tile.
//
//   Reads   every sample (1.05 times), and the two samples of every crossed edge again
//   Writes  what pieces.cuh says; dense_tiles and tile_bits
#pragma once

#include "stages/contours/cuda/read.cuh"
#include "stages/contours/cuda/tile.cuh"

namespace contorno::contour_engine {

inline constexpr int kSmallThreads = kBitsThreads;
inline constexpr int kWarpThreads = 32;
inline constexpr unsigned kMostWarps = 20;  ///< warps of a block; with more a thread has too few registers
using WarpLinks = PackedLinks<9, 384>;
inline constexpr int kDenseThreads = 512;

struct SmallShared {
  TileShared<WideLinks> tile;
  ReadShared read;
};

template <class T, class P>
__global__ void __launch_bounds__(kSmallThreads, 2) trace_small(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  SmallShared& s = block_shared<SmallShared>();
  const TilePlace place = place_of_block(job, static_cast<int>(blockIdx.x));
  TileSamples<T> samples;
  samples.load(job, place);
  make_bits(job, place, samples, s.tile.bits, s.read);
  TileTracer<T, P, WideLinks, kSmallThreads> tracer(job, s.tile, place);
  if (tracer.count_segments() != 0)
    tracer.run();
  else if (threadIdx.x == 0)
    job.work.tile_pieces[place.tile] = {0, 0};
}

/// Shared memory of a block of trace_tiles, which works on every gridDim.x-th tile. Only bytes(warps) of it
/// are allocated.
struct WarpsShared {
  alignas(16) unsigned taken;  ///< tiles of the block that warps have taken
  TileShared<WarpLinks> tile[kMostWarps];
  static constexpr std::size_t bytes(unsigned warps) {
    return sizeof(WarpsShared) - (kMostWarps - warps) * sizeof(TileShared<WarpLinks>);
  }
};

/// Traces one tile with one warp.
template <class T, class P>
__device__ __forceinline__ void trace_tile(const Job<P>& job, const TilePlace& place,
                                           TileShared<WarpLinks>& s) {
  const unsigned lane = threadIdx.x % kWarpThreads;
  if (!read_tile<T>(job, place, s.bits)) {
    if (lane == 0) job.work.tile_pieces[place.tile] = {0, 0};
    return;
  }
  TileTracer<T, P, WarpLinks, kWarpThreads> tracer(job, s, place);
  if (tracer.count_segments() <= static_cast<int>(WarpLinks::kCapacity)) {
    tracer.run();
    return;
  }
  unsigned at = 0;
  if (lane == 0) {
    at = atomicAdd(&job.work.counters->dense_tiles, 1U);
    job.work.dense_tiles[at] = static_cast<unsigned>(place.tile);
  }
  at = __shfl_sync(~0U, at, 0);
  for (unsigned i = lane; i < sizeof(TileBits) / 16; i += kWarpThreads)
    reinterpret_cast<uint4*>(&job.work.tile_bits[at])[i] = reinterpret_cast<const uint4*>(&s.bits)[i];
}

template <class T, class P>
__global__ void __launch_bounds__(kWarpThreads* kMostWarps, 1)
    trace_tiles(const __grid_constant__ Job<P> job, unsigned tiles) {
  let_next_begin();
  wait_for_previous();
  WarpsShared& s = block_shared<WarpsShared>();
  if (threadIdx.x == 0) s.taken = blockDim.x / kWarpThreads;
  __syncthreads();
  const unsigned warp = threadIdx.x / kWarpThreads;
  for (unsigned mine = warp; mine * gridDim.x + blockIdx.x < tiles;) {
    trace_tile<T>(job, place_of_block(job, static_cast<int>(mine * gridDim.x + blockIdx.x)), s.tile[warp]);
    __syncwarp();
    if (threadIdx.x % kWarpThreads == 0) mine = atomicAdd(&s.taken, 1U);
    mine = __shfl_sync(~0U, mine, 0);
  }
}

template <class T, class P>
__global__ void __launch_bounds__(kDenseThreads, 2) trace_dense(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  TileShared<WideLinks>& s = block_shared<TileShared<WideLinks>>();
  const unsigned tiles = job.work.counters->dense_tiles;
  for (unsigned at = blockIdx.x; at < tiles; at += gridDim.x) {
    __syncthreads();
    for (unsigned i = threadIdx.x; i < sizeof(TileBits) / 16; i += kDenseThreads)
      reinterpret_cast<uint4*>(&s.bits)[i] = reinterpret_cast<const uint4*>(&job.work.tile_bits[at])[i];
    const TilePlace place = place_of_tile(job, static_cast<int>(job.work.dense_tiles[at]));
    __syncthreads();
    TileTracer<T, P, WideLinks, kDenseThreads> tracer(job, s, place);
    tracer.count_segments();
    tracer.run();
  }
}

}  // namespace contorno::contour_engine
