// A scan in one pass over chunks, for both ways of numbering: each block publishes the sum of its chunk, and
// adds up those of all chunks before it. Blocks take the chunks in order, by their own numbers or one after
// the other (take_chunk), so that a block waits only for blocks that run.
//
// Sums are below 2^63.
#pragma once

#include "cuda/sums.cuh"
#include "stages/contours/cuda/engine.cuh"

namespace contorno::contour_engine {

inline constexpr int kScanThreads = 256;
inline constexpr unsigned long long kPublished = 1ULL << 63;

/// Shared memory of a block.
struct ChunkShared {
  unsigned long long sums[kScanThreads / 32], earlier[kScanThreads / 32];
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

/// The sum of all elements before those of this thread, of which `own` is the sum. Called by whole blocks.
/// `status` has an element a chunk, 0 at first.
__device__ __forceinline__ unsigned long long scan_chunk(unsigned long long* status, unsigned chunk,
                                                         unsigned long long own, ChunkShared& s) {
  unsigned long long all = 0;
  const unsigned long long before = sum_before_thread(own, s.sums, all);
  if (threadIdx.x == 0) store_relaxed(&status[chunk], all | kPublished);
  // The sums of all chunks before this one: each thread waits for some of them.
  unsigned long long earlier = 0;
  for (unsigned other = threadIdx.x; other < chunk; other += kScanThreads) {
    unsigned long long seen = 0;
    while (((seen = load_relaxed(&status[other])) & kPublished) == 0) spin_pause();
    earlier += seen & ~kPublished;
  }
  sum_before_thread(earlier, s.earlier, all);
  return all + before;
}

}  // namespace contorno::contour_engine
