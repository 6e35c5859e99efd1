// The kernels that trace tiles. trace_small: a block a tile (small maps: all tiles run at once). trace_tiles:
// a warp a tile (large maps: many tiles, most with few segments or none); it leaves the cells of tiles with
// many to trace_dense.
//
// Reads   every sample (1.05 times), again the two samples of every crossed edge
// Writes  tile_pieces, and what contour_engine_pieces.cuh says
#pragma once

#include "stages/contour_engine_read.cuh"
#include "stages/contour_engine_tile.cuh"

namespace contorno::contour_engine {

inline constexpr int kSmallThreads = kBitsThreads;
inline constexpr int kWarpThreads = 32;
inline constexpr int kWarpBlocks = 20;  ///< on a multiprocessor at the same time; more have too few registers
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

template <class T, class P>
__global__ void __launch_bounds__(kWarpThreads, kWarpBlocks) trace_tiles(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  TileShared<WarpLinks>& s = block_shared<TileShared<WarpLinks>>();
  const TilePlace place = place_of_block(job, static_cast<int>(blockIdx.x));
  if (!read_tile<T>(job, place, s.bits)) {
    if (threadIdx.x == 0) job.work.tile_pieces[place.tile] = {0, 0};
    return;
  }
  TileTracer<T, P, WarpLinks, kWarpThreads> tracer(job, s, place);
  if (tracer.count_segments() <= static_cast<int>(WarpLinks::kCapacity)) {
    tracer.run();
    return;
  }
  unsigned at = 0;
  if (threadIdx.x == 0) {
    at = atomicAdd(&job.work.counters->dense_tiles, 1U);
    job.work.dense_tiles[at] = static_cast<unsigned>(place.tile);
  }
  at = __shfl_sync(~0U, at, 0);
  for (unsigned i = threadIdx.x; i < sizeof(TileBits) / 16; i += kWarpThreads)
    reinterpret_cast<uint4*>(&job.work.tile_bits[at])[i] = reinterpret_cast<const uint4*>(&s.bits)[i];
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
