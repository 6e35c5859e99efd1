// Sorting by counting: the place of a key is how many others come before it. That takes as many comparisons
// as there are pairs, all at once, and one kernel, where CUB takes four kernels and more, one block each.
#pragma once

#include "stages/contour_prep/shared/threads.cuh"

namespace contorno {

/// What a block shares for it.
struct RankShared {
  unsigned ranks[kWarpLanes];
};

/// The place of key `first` + lane: how many are less, or equal and before it. By all threads of a block; in
/// all of its warps.
template <class Key>
__device__ inline unsigned rank_of_lane(const Key* keys, unsigned count, unsigned first, RankShared& shared) {
  const unsigned warps = blockDim.x / kWarpLanes, each = (count + warps - 1) / warps;
  const unsigned begin = threadIdx.x / kWarpLanes * each, end = min(begin + each, count);
  const unsigned i = first + warp_lane(), behind = first + kWarpLanes;
  const Key key = keys[min(i, count - 1)];
  if (threadIdx.x < kWarpLanes) shared.ranks[threadIdx.x] = 0;
  __syncthreads();
  unsigned rank = 0, j = begin;
  for (; j < min(end, first); ++j) rank += keys[j] <= key ? 1U : 0U;
  for (; j < min(end, behind); ++j) rank += keys[j] < key || (keys[j] == key && j < i) ? 1U : 0U;
  for (; j < end; ++j) rank += keys[j] < key ? 1U : 0U;
  atomicAdd(&shared.ranks[warp_lane()], rank);
  __syncthreads();
  rank = shared.ranks[warp_lane()];
  __syncthreads();
  return rank;
}

/// Writes pairs in the order of their keys.
template <class Key>
__global__ void __launch_bounds__(kArrayThreads)
    rank_pairs(const Key* keys, Key* sorted_keys, const unsigned* values, unsigned* sorted_values,
               unsigned count) {
  for (unsigned first = blockIdx.x * kWarpLanes; first < count; first += gridDim.x * kWarpLanes) {
    const unsigned i = first + threadIdx.x,
                   rank = rank_of_lane(keys, count, first, block_shared<RankShared>());
    if (threadIdx.x >= kWarpLanes || i >= count) continue;
    sorted_keys[rank] = keys[i];
    sorted_values[rank] = values[i];
  }
}

}  // namespace contorno
