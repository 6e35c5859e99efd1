// The barrier of kernels whose blocks all run at the same time (cooperative launches).
#pragma once

#include "cuda/launch.cuh"

namespace contorno::mean_shift_cuda {

/// All blocks meet. `arrived` starts at 0 before the launch; `target` at 0 in every thread.
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
