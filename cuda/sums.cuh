// Reductions over a warp, and prefix sums over a warp and over a block. Called by whole warps.
#pragma once

#include "cuda/launch.cuh"

namespace contorno {

inline constexpr unsigned kWarpLanes = 32;
__device__ __forceinline__ unsigned warp_lane() {
  return threadIdx.x % kWarpLanes;
}

/// Reduces the values of the lanes by a butterfly: join(lane's own value, that of lane `lane ^ step`) for
/// steps of 16, 8, 4, 2 and 1. Every lane gets the same result if `join` is commutative.
template <class T, class Join>
__device__ __forceinline__ T join_warp(T value, const Join& join) {
#pragma unroll
  for (unsigned step = kWarpLanes / 2; step > 0; step /= 2) {
    const T other = __shfl_xor_sync(~0U, value, static_cast<int>(step));
    value = join(value, other);
  }
  return value;
}
template <class T>
__device__ __forceinline__ T sum_of_warp(T value) {
  return join_warp(value, [](T a, T b) { return a + b; });
}

/// Inclusive prefix sum over a warp: of the values of the lanes up to this one.
template <class T>
__device__ __forceinline__ T sum_to_lane(T value) {
#pragma unroll
  for (unsigned step = 1; step < kWarpLanes; step *= 2) {
    const T before = __shfl_up_sync(~0U, value, step);
    if (warp_lane() >= step) value += before;
  }
  return value;
}
/// Exclusive prefix sum over a warp: of the values of the lanes before; `all`: the sum of all lanes.
template <class T>
__device__ __forceinline__ T sum_before_lane(T value, T& all) {
  const T end = sum_to_lane(value);
  all = __shfl_sync(~0U, end, static_cast<int>(kWarpLanes) - 1);
  return end - value;
}

/// Exclusive prefix sum over a block: of the values of the threads before; `all`: the sum of all threads.
/// Called by all threads of a block, a multiple of 32. `of_warps` is shared memory with an element a warp.
/// There is one barrier in here; the caller needs another one before it writes `of_warps` again.
template <class T>
__device__ __forceinline__ T sum_before_thread(T value, T* of_warps, T& all) {
  T of_warp{};
  const T before = sum_before_lane(value, of_warp);
  const unsigned warp = threadIdx.x / kWarpLanes;
  if (warp_lane() == 0) of_warps[warp] = of_warp;
  __syncthreads();
  // Each warp adds up those of all.
  const T of_lane = warp_lane() < blockDim.x / kWarpLanes ? of_warps[warp_lane()] : T{};
  const T before_warp = __shfl_sync(~0U, sum_before_lane(of_lane, all), static_cast<int>(warp));
  return before_warp + before;
}

}  // namespace contorno
