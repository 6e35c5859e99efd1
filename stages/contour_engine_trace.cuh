// The kernels that trace tiles. trace_small reads the samples itself (small maps: fewest launches);
// trace_sparse and trace_dense take the bits that find_crossed left (large maps: many small blocks, few large
// ones).
#pragma once

#include "stages/contour_engine_tile.cuh"

namespace contorno::contour_engine {

inline constexpr int kSmallThreads = kBitsThreads;
inline constexpr int kSparseThreads = 64;
inline constexpr int kSparseBlocks = 16;  ///< on a multiprocessor at the same time
using SparseLinks = PackedLinks<9>;
inline constexpr int kDenseThreads = 512;

struct SmallShared {
  TileShared<WideLinks> tile;
  BitsShared valid;
};

template <class T, class P>
__global__ void __launch_bounds__(kSmallThreads, 2) trace_small(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  SmallShared& s = block_shared<SmallShared>();
  const TilePlace place = place_of_block(job, static_cast<int>(blockIdx.x));
  TileSamples<T> samples;
  samples.load(job, place);
  const bool unusual = make_bits(job, place, samples, s.tile.bits, s.valid);
  if (threadIdx.x < 32) find_crossed_row(place, unusual, s.tile.bits, s.valid);
  if (threadIdx.x == 0) s.tile.bits.unusual = unusual ? 1 : 0;
  __syncthreads();
  TileTracer<T, P, WideLinks, kSmallThreads> tracer(job, s.tile, place);
  if (tracer.count_segments() != 0)
    tracer.run();
  else if (threadIdx.x == 0)
    job.work.tile_pieces[place.tile] = {0, 0};
}

/// Brings the bits of the `at`-th crossed tile into shared memory. Begins and ends with a barrier.
template <unsigned kThreads, class P, class Links>
__device__ __forceinline__ TilePlace fetch_bits(const Job<P>& job, unsigned at, TileShared<Links>& s) {
  __syncthreads();
  constexpr unsigned kWords = sizeof(TileBits) / 8;
  static_assert(sizeof(TileBits) % 8 == 0);
  for (unsigned i = threadIdx.x; i < kWords; i += kThreads)
    reinterpret_cast<unsigned long long*>(&s.bits)[i] =
        reinterpret_cast<const unsigned long long*>(&job.work.tile_bits[at])[i];
  const TilePlace place = place_of_tile(job, static_cast<int>(job.work.crossed_tiles[at]));
  __syncthreads();
  return place;
}

template <class T, class P>
__global__ void __launch_bounds__(kSparseThreads, kSparseBlocks)
    trace_sparse(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  TileShared<SparseLinks>& s = block_shared<TileShared<SparseLinks>>();
  const unsigned tiles = job.work.counters->crossed_tiles;
  for (unsigned at = blockIdx.x; at < tiles; at += gridDim.x) {
    const TilePlace place = fetch_bits<kSparseThreads>(job, at, s);
    TileTracer<T, P, SparseLinks, kSparseThreads> tracer(job, s, place);
    if (tracer.count_segments() <= static_cast<int>(SparseLinks::kCapacity))
      tracer.run();
    else if (threadIdx.x == 0)
      job.work.dense_tiles[atomicAdd(&job.work.counters->dense_tiles, 1U)] = at;
  }
}

template <class T, class P>
__global__ void __launch_bounds__(kDenseThreads, 2) trace_dense(const __grid_constant__ Job<P> job) {
  let_next_begin();
  wait_for_previous();
  TileShared<WideLinks>& s = block_shared<TileShared<WideLinks>>();
  const unsigned tiles = job.work.counters->dense_tiles;
  for (unsigned at = blockIdx.x; at < tiles; at += gridDim.x) {
    const TilePlace place = fetch_bits<kDenseThreads>(job, job.work.dense_tiles[at], s);
    TileTracer<T, P, WideLinks, kDenseThreads> tracer(job, s, place);
    tracer.count_segments();
    tracer.run();
  }
}

}  // namespace contorno::contour_engine
