// A block as a team (team.h).
#pragma once

#include "cuda/launch.cuh"
#include "stages/contour_prep/fourier/team.h"

namespace contorno {

class BlockTeam {
 public:
  /// `counter` lies in shared memory.
  __device__ explicit BlockTeam(unsigned long long* counter) : counter_(counter) {}

  template <class F>
  __device__ void each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) f(i);
    __syncthreads();
  }
  template <class F>
  __device__ std::uint64_t count(std::uint64_t count, const F& f) const {
    if (threadIdx.x == 0) *counter_ = 0;
    __syncthreads();
    unsigned long long found = 0;
    for (std::uint64_t i = threadIdx.x; i < count; i += blockDim.x) found += f(i) ? 1U : 0U;
    if (found > 0) atomicAdd(counter_, found);
    __syncthreads();
    found = *counter_;
    __syncthreads();  // before the next call begins
    return found;
  }

 private:
  unsigned long long* counter_;
};

}  // namespace contorno
