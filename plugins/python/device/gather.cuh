// The kernels that put samples and points of any strides in order, and the one that tells contours apart.
#pragma once

#include "cuda/launch.cuh"
#include "geometry/ascending.h"
#include "plugins/python/device/device_kernels.h"
#include "stages/shared/sample_value.h"

namespace contorno::python {

/// What a sample becomes.
struct Cast {
  template <class To, class From>
  static __device__ To of(From sample) {
    return static_cast<To>(sample);
  }
  template <class To>
  static __device__ To of(Half sample) {
    return half_to_float(sample);
  }
};
template <unsigned kTrue>
struct IsNotZero {
  template <class To, class From>
  static __device__ To of(From sample) {
    return sample != 0 ? To{kTrue} : To{0};
  }
};

template <class From, class To, class Become>
__global__ void gather(StridedSamples from, To* to, long long count) {
  const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    long long rest = i, offset = 0;
    for (int axis = 3; axis >= 0; --axis) {
      offset += rest % from.sides[axis] * from.strides[axis];
      rest /= from.sides[axis];
    }
    to[i] =
        Become::template of<To>(*reinterpret_cast<const From*>(static_cast<const char*>(from.data) + offset));
  }
}

/// See gather_contours. A thread a point.
template <class T>
__global__ void gather_picked(StridedSamples from, PickedContours picked, T* to) {
  const unsigned step = gridDim.x * blockDim.x;
  for (unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x; i < picked.points; i += step) {
    const unsigned contour = part_of(picked.to_begin, picked.contours, static_cast<unsigned>(i));
    const long long point = picked.from_begin[contour] + (i - picked.to_begin[contour]);
    const char* at = static_cast<const char*>(from.data) + point * from.strides[2];
    to[2 * i] = *reinterpret_cast<const T*>(at);
    to[2 * i + 1] = *reinterpret_cast<const T*>(at + from.strides[3]);
  }
}

/// See number_contours. A thread a contour.
__global__ void fill_ids(const std::uint32_t* class_begin, int all_planes, PlaneAxes axes,
                         unsigned long long contours, ContourIds ids) {
  const unsigned long long step = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < contours; i += step) {
    const auto all =
        static_cast<int>(part_of(class_begin, static_cast<unsigned>(all_planes), static_cast<unsigned>(i)));
    ids.classes[i] = axes.plane(all);
    ids.frames[i] = axes.frame(all);
    ids.levels[i] = axes.level(all);
  }
}

}  // namespace contorno::python
