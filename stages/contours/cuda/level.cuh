// How the samples of a tile are compared with the level: which are high, and whether any is so near to the
// level (or so far, or not a number) that the tile must be linked by exact points. The bounds are those of
// rules/level_test.h.
//
// Samples are usual if they are finite and the least distance from the level is so large beside the greatest
// one that no crossing can fall on a sample.
#pragma once

#include <type_traits>

#include "stages/contours/cuda/engine.cuh"
#include "stages/contours/rules/level_test.h"

namespace contorno::contour_engine {

__device__ __forceinline__ unsigned is_negative(float v) {
  return __float_as_uint(v) >> 31;
}
__device__ __forceinline__ unsigned is_negative(double v) {
  return static_cast<unsigned>(static_cast<unsigned long long>(__double_as_longlong(v)) >> 63);
}

/// The bits of v >= 0 as a float, rounded up. As integers they are in the order of the values, with NaN above
/// all.
__device__ __forceinline__ unsigned float_bits_above(float v) {
  return __float_as_uint(v);
}
__device__ __forceinline__ unsigned float_bits_above(double v) {
  return __float_as_uint(__double2float_ru(v));
}

/// Comparisons of samples of type T with the level of a plane.
template <class T>
struct LevelTest {
  using Value = typename Sample<T>::Value;
  Value threshold, centre, rounding;
  template <class P>
  __device__ __forceinline__ LevelTest(const PlaneGroup<P>& group, int plane)
      : LevelTest(group.map, group.level_of(plane)) {}
  __device__ __forceinline__ LevelTest(const Map& map, const LevelEntry& entry) {
    const double level = entry.level;
    threshold = static_cast<Value>(std::is_same_v<Value, double> ? level : entry.threshold);
    centre = static_cast<Value>(Sample<T>::kInteger ? level * map.divisor : level);
    // For many samples together only the ratio of their distances counts, and that the least one exceeds the
    // rounding of threshold and centre, at most the gap to the next float. What then is unusual are samples
    // exactly at the level, or so near that rounding hides their distance.
    const bool exact = !Sample<T>::kInteger && static_cast<double>(threshold) == level;
    rounding =
        exact ? Value{0} : fmax(fabs(centre) * static_cast<Value>(0x1p-23), static_cast<Value>(0x1p-120));
  }
  /// An upper bound to begin a minimum of distances with; from here on samples do not count as finite.
  static constexpr __device__ Value greatest_usual() { return static_cast<Value>(0x1p126); }
  /// Whether samples are finite, given their greatest distance from the level as float_bits_above makes it;
  /// and whether finite ones are usual together, given the least distance, too.
  __device__ __forceinline__ bool are_finite(unsigned greatest) const {
    return greatest < __float_as_uint(0x1p126F);
  }
  __device__ __forceinline__ bool are_usual(Value least, unsigned greatest) const {
    return least > rounding && least > part_of(greatest);
  }
  /// Distance of a sample from the level, for the functions above; NaN and infinities stay what they are.
  __device__ __forceinline__ Value distance(Value v) const {
    return fabs((Sample<T>::kInteger ? centre : threshold) - v);
  }
  /// Whether a crossing between these two samples cannot fall on either.
  __device__ __forceinline__ bool misses_samples(Value a, Value b) const {
    const Value most = greater_or_nan(distance(a), distance(b));
    const unsigned above = float_bits_above(most);
    return are_finite(above) && are_usual(fmin(distance(a), distance(b)), above);
  }
  __device__ __forceinline__ bool is_high(Value v) const { return v > threshold; }

 private:
  static __device__ __forceinline__ Value part_of(unsigned greatest) {
    return static_cast<Value>(__uint_as_float(greatest)) * static_cast<Value>(kLeastOfGreatest);
  }
};

}  // namespace contorno::contour_engine
