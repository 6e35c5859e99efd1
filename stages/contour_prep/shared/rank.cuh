// Sorting by counting: the place of a key is how many others come before it. That takes as many comparisons
// as there are pairs, all at once, and one kernel, where CUB takes four kernels and more, one block each.
#pragma once

#include "cuda/threads.cuh"

namespace contorno {

/// What a block shares for it.
template <class Key>
struct RankShared {
  /// Keys that are read at once.
  static constexpr unsigned kAtOnce = 16 / sizeof(Key);
  struct alignas(16) Keys {
    Key keys[kAtOnce];
  };
  static constexpr unsigned kStaged = 16384 / sizeof(Key);

  Keys staged[kStaged / kAtOnce];
  unsigned ranks[kWarpLanes];
};

/// How many keys of a part of those that are staged, from `base` on, come before key i, which is `key`; by a
/// warp, whose first lane has key `first`.
template <class Key>
__device__ inline unsigned rank_among(const RankShared<Key>& shared, unsigned begin, unsigned end,
                                      unsigned base, unsigned first, unsigned i, Key key) {
  constexpr unsigned kAtOnce = RankShared<Key>::kAtOnce;
  // What lies before all lanes, and behind them.
  const unsigned before = min(end, first > base ? (first - base) / kAtOnce : 0U);
  const unsigned behind = min(end, first + kWarpLanes > base ? (first + kWarpLanes - base) / kAtOnce : 0U);
  unsigned rank = 0, at = begin;
  for (; at < before; ++at)
    for (const Key other : shared.staged[at].keys) rank += other <= key ? 1U : 0U;
  for (; at < behind; ++at)
    for (unsigned k = 0; k < kAtOnce; ++k) {
      const Key other = shared.staged[at].keys[k];
      rank += other < key || (other == key && base + at * kAtOnce + k < i) ? 1U : 0U;
    }
  for (; at < end; ++at)
    for (const Key other : shared.staged[at].keys) rank += other < key ? 1U : 0U;
  return rank;
}

/// The place of key `first` + lane, where `first` is a multiple of 32: how many keys are less, or equal and
/// before it. By all threads of a block; in all of its warps.
template <class Key>
__device__ inline unsigned rank_of_lane(const Key* keys, unsigned count, unsigned first,
                                        RankShared<Key>& shared) {
  using Shared = RankShared<Key>;
  const unsigned i = first + warp_lane(), warp = threadIdx.x / kWarpLanes, warps = blockDim.x / kWarpLanes;
  const Key key = keys[min(i, count - 1)];
  unsigned rank = 0;
  if (threadIdx.x < kWarpLanes) shared.ranks[threadIdx.x] = 0;
  for (unsigned base = 0; base < count; base += Shared::kStaged) {
    const unsigned reads = (min(count - base, Shared::kStaged) + Shared::kAtOnce - 1) / Shared::kAtOnce;
    // Behind the last key is the greatest one there can be, which comes before none.
    for (unsigned k = threadIdx.x; k < reads * Shared::kAtOnce; k += blockDim.x)
      shared.staged[k / Shared::kAtOnce].keys[k % Shared::kAtOnce] =
          base + k < count ? keys[base + k] : static_cast<Key>(~Key{0});
    __syncthreads();
    const unsigned each = (reads + warps - 1) / warps;
    rank += rank_among(shared, warp * each, min((warp + 1) * each, reads), base, first, i, key);
    __syncthreads();
  }
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
                   rank = rank_of_lane(keys, count, first, block_shared<RankShared<Key>>());
    if (threadIdx.x >= kWarpLanes || i >= count) continue;
    sorted_keys[rank] = keys[i];
    sorted_values[rank] = values[i];
  }
}

}  // namespace contorno
