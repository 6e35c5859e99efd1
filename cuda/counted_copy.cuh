// The kernel of copy_counted (cuda/counted_copy.h).
#pragma once

#include "cuda/copy_range.cuh"
#include "cuda/counted_copy.h"

namespace contorno {

inline constexpr int kCountedThreads = 256;

__global__ void __launch_bounds__(kCountedThreads)
    copy_counted_arrays(const __grid_constant__ CountedCopy copy) {
  bool fits = true;
  for (const CountLimit& limit : copy.limits)
    fits = fits && (limit.count == nullptr || *limit.count <= limit.capacity);
  for (const CountedArray& one : copy.arrays) {
    if (one.to == nullptr || (one.count != nullptr && !fits)) continue;
    const unsigned long long elements = one.more + (one.count != nullptr ? *one.count : 0);
    copy_range(static_cast<unsigned char*>(one.to), static_cast<const unsigned char*>(one.from), 0,
               elements * one.element);
  }
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  if (fits && thread < copy.gathered.size)
    copy.gathered.to[thread] = copy.gathered.from[copy.gathered.index[thread]];
}

}  // namespace contorno
