// Threads of a grid by number, for kernels whose threads or warps go over an array in strides of the grid.
#pragma once

#include "cuda/sums.cuh"

namespace contorno {

/// Threads of a block of such kernels.
inline constexpr unsigned kArrayThreads = 256;

__device__ __forceinline__ unsigned global_thread() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}
__device__ __forceinline__ unsigned all_threads() {
  return gridDim.x * blockDim.x;
}

/// Calls use(i) for 0 <= i < count, each by all lanes of one warp.
template <class Use>
__device__ __forceinline__ void for_warps(unsigned count, const Use& use) {
  for (unsigned i = global_thread() / kWarpLanes; i < count; i += all_threads() / kWarpLanes) use(i);
}

}  // namespace contorno
