// Threads of a grid by number, for kernels whose threads go over an array in strides of the grid.
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

}  // namespace contorno
