// Samples in device memory: where those of a map lie, and how one is read, whatever its type.
#pragma once

#include "cuda/launch.cuh"

namespace contorno::contour_engine {

/// Where the samples of all planes lie. `mask` (null: none) has one byte a sample, 0 = left out.
struct Map {
  const unsigned char* data;
  long long plane_pitch, row_pitch, sample_pitch;
  const unsigned char* mask;
  long long mask_pitch;
  int width, height;
  double divisor;  ///< stored integers stand for v / divisor
};

/// How samples of element type T are read: exactly, as a `Value`, in which they are compared. Integers are
/// not divided yet.
template <class T>
struct Sample {
  using Value = float;
  static constexpr bool kMayBeNan = false;
  static constexpr bool kInteger = true;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return static_cast<float>(*reinterpret_cast<const T*>(p));
  }
};
template <>
struct Sample<float> {
  using Value = float;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __ldg(reinterpret_cast<const float*>(p));
  }
};
template <>
struct Sample<double> {
  using Value = double;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __ldg(reinterpret_cast<const double*>(p));
  }
};
template <>
struct Sample<__half> {
  using Value = float;
  static constexpr bool kMayBeNan = true;
  static constexpr bool kInteger = false;
  static __device__ __forceinline__ Value read(const unsigned char* p) {
    return __half2float(__ldg(reinterpret_cast<const __half*>(p)));
  }
};

template <class T>
__device__ __forceinline__ typename Sample<T>::Value read_sample(const Map& map, int plane, int row,
                                                                 int col) {
  return Sample<T>::read(map.data + plane * map.plane_pitch + row * map.row_pitch + col * map.sample_pitch);
}
/// The value that a stored sample stands for: integers are divided by the map's divisor.
template <class T>
__device__ __forceinline__ double value_of(const Map& map, typename Sample<T>::Value stored) {
  const auto value = static_cast<double>(stored);
  return Sample<T>::kInteger ? value / map.divisor : value;
}
template <class T>
__device__ __forceinline__ double read_value(const Map& map, int plane, int row, int col) {
  return value_of<T>(map, read_sample<T>(map, plane, row, col));
}
__device__ __forceinline__ bool is_masked(const Map& map, int row, int col) {
  return map.mask != nullptr && map.mask[row * map.mask_pitch + col] == 0;
}

}  // namespace contorno::contour_engine
