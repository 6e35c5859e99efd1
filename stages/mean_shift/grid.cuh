// The barrier of kernels whose blocks all run at the same time (cooperative launches).
#pragma once

#include "cuda/launch.cuh"

namespace contorno::mean_shift_cuda {

/// Waits until all blocks of the grid have called it. `arrived` is 0 before the launch, and `target`, a
/// variable of each thread, begins at 0.
__device__ inline void meet(unsigned* arrived, unsigned& target) {
  __syncthreads();
  target += gridDim.x;
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1U);
    while (load_acquire(arrived) < target) spin_pause();
  }
  __syncthreads();
}

}  // namespace contorno::mean_shift_cuda
