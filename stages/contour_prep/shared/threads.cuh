// Threads of a grid by number, for kernels whose threads or warps go over an array in strides of the grid.
#pragma once

#include "cuda/launch.cuh"

namespace contorno {

/// Threads of a block of such kernels.
inline constexpr unsigned kArrayThreads = 256;

__device__ __forceinline__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned all_threads() {
  return gridDim.x * blockDim.x;
}

inline constexpr unsigned kWarpLanes = 32;
__device__ __forceinline__ unsigned warp_lane() {
  return threadIdx.x % kWarpLanes;
}
/// Calls use(i) for 0 <= i < count, each by all lanes of one warp.
template <class Use>
__device__ __forceinline__ void for_warps(unsigned count, const Use& use) {
  for (unsigned i = global_thread() / kWarpLanes; i < count; i += all_threads() / kWarpLanes) use(i);
}
/// Joins what the lanes have, in pairs of a fixed order: join(lane's own value, that of lane `lane ^ step`)
/// for steps of 16, 8, 4, 2 and 1. Every lane gets the whole if `join` does not care which comes first.
template <class T, class Join>
__device__ __forceinline__ T join_warp(T value, const Join& join) {
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

/// The sum of the values of the lanes before, and in `all` that of all lanes.
__device__ __forceinline__ unsigned sum_before_lane(unsigned value, unsigned& all) {
  unsigned end = value;
  for (unsigned step = 1; step < kWarpLanes; step *= 2) {
    const unsigned before = __shfl_up_sync(~0U, end, step);
    if (warp_lane() >= step) end += before;
  }
  all = __shfl_sync(~0U, end, static_cast<int>(kWarpLanes) - 1);
  return end - value;
}

}  // namespace contorno
