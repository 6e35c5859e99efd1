// A scan in one pass over chunks that as many blocks as fit work on: each block takes the next chunk,
// publishes its sum, and adds up those of the chunks before it until it finds one whose total is known
// (decoupled look-back, Merrill and Garland 2016). Chunks are taken in order, so a block waits only for
// blocks that run.
//
// Sums are below 2^63.
#pragma once

#include "cuda/sums.cuh"
#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kChunkThreads = 256;
inline constexpr unsigned kChunkEach = 4;  ///< elements of a thread, one after the other
inline constexpr unsigned kChunk = kChunkThreads * kChunkEach;
inline constexpr unsigned long long kPublished = 1ULL << 63;

/// Shared memory of a block.
struct ChunkShared {
  unsigned long long sums[kChunkThreads / 32], before;
  unsigned chunk;
};

/// The next chunk, for the whole block. Two barriers: behind the first, what the block shared of the last
/// chunk may be written again.
__device__ __forceinline__ unsigned take_chunk(unsigned* counter, ChunkShared& s) {
  __syncthreads();
  if (threadIdx.x == 0) s.chunk = atomicAdd(counter, 1U);
  __syncthreads();
  return s.chunk;
}

/// What another block has published of its chunk; waits until there is something.
__device__ __forceinline__ ChunkStatus published(const ChunkStatus& status) {
  for (;;) {
    const ChunkStatus seen{load_relaxed(&status.sum), load_relaxed(&status.total)};
    if (((seen.sum | seen.total) & kPublished) != 0) return seen;
    spin_pause();
  }
}

/// Publishes the sum of a chunk and returns that of all chunks before it. Called by one warp.
__device__ __forceinline__ unsigned long long sum_of_earlier(ChunkStatus* status, unsigned chunk,
                                                             unsigned long long sum) {
  const unsigned lane = threadIdx.x % 32;
  if (lane == 0) store_relaxed(chunk == 0 ? &status[0].total : &status[chunk].sum, sum | kPublished);
  unsigned long long before = 0;
  for (unsigned end = chunk; end > 0; end -= min(end, 32U)) {
    // Each lane looks at one chunk; those before the nearest one with a total do not count.
    const ChunkStatus seen = lane < end ? published(status[end - 1 - lane]) : ChunkStatus{0, 0};
    const unsigned totals = __ballot_sync(~0U, (seen.total & kPublished) != 0);
    const unsigned nearest = totals != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(totals))) - 1 : 32U;
    const unsigned long long value = lane < nearest ? seen.sum : (lane == nearest ? seen.total : 0);
    before += sum_of_warp(value & ~kPublished);
    if (totals != 0) break;
  }
  if (lane == 0 && chunk > 0) store_relaxed(&status[chunk].total, (before + sum) | kPublished);
  return before;
}

/// The sum of all elements before those of this thread, of which `own` is the sum. Called by whole blocks.
__device__ __forceinline__ unsigned long long scan_chunk(ChunkStatus* status, unsigned chunk,
                                                         unsigned long long own, ChunkShared& s) {
  unsigned long long all = 0;
  const unsigned long long before = sum_before_thread(own, s.sums, all);
  if (threadIdx.x < kWarpLanes) {
    const unsigned long long earlier = sum_of_earlier(status, chunk, all);
    if (threadIdx.x == 0) s.before = earlier;
  }
  __syncthreads();
  return s.before + before;
}

}  // namespace contorno::contour_engine
