// Device function that copies a part of an array with all threads of a grid.
#pragma once

#include "cuda/launch.cuh"

namespace contorno {

/// Copies elements [begin, end) from `from` to `to`, which may be page-locked host memory; both are aligned
/// to 16 bytes. Called by all threads of the grid. It begins at the multiple of 16 bytes at or before
/// `begin`: the elements in front of `begin` that are copied as well must be the same in both arrays.
template <class T>
__device__ __forceinline__ void copy_range(T* to, const T* from, unsigned long long begin,
                                           unsigned long long end) {
  constexpr unsigned kLoadsUnderWay = 4;
  const unsigned long long thread = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  const unsigned long long wide = end * sizeof(T) / 16;
  for (unsigned long long start = begin * sizeof(T) / 16 + thread; start < wide;
       start += kLoadsUnderWay * stride) {
    uint4 loaded[kLoadsUnderWay];
#pragma unroll
    for (unsigned k = 0; k < kLoadsUnderWay; ++k)
      if (start + k * stride < wide)
        loaded[k] = __ldcg(&reinterpret_cast<const uint4*>(from)[start + k * stride]);
#pragma unroll
    for (unsigned k = 0; k < kLoadsUnderWay; ++k)
      if (start + k * stride < wide) reinterpret_cast<uint4*>(to)[start + k * stride] = loaded[k];
  }
  const unsigned long long rest = max(begin, wide * 16 / sizeof(T));
  for (unsigned long long i = rest + thread; i < end; i += stride) to[i] = from[i];
}

}  // namespace contorno
