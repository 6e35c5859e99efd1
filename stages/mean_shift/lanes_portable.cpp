#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "stages/mean_shift/lanes.h"
#include "stages/mean_shift/lanes_sets.h"
#include "stages/mean_shift/weight.h"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace contorno {
namespace shift_portable {

inline constexpr int kVectorBytes = 16;
#include "stages/mean_shift/lanes.inc"

}  // namespace shift_portable

const MeanShiftLanes<float>& mean_shift_lanes_portable(float) {
  return shift_portable::kLanes<float>;
}
const MeanShiftLanes<double>& mean_shift_lanes_portable(double) {
  return shift_portable::kLanes<double>;
}

template <class T>
const MeanShiftLanes<T>& mean_shift_lanes(Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::Avx512) return mean_shift_lanes_avx512(T{});
  if (simd == Simd::Avx2) return mean_shift_lanes_avx2(T{});
#endif
  static_cast<void>(simd);
  return mean_shift_lanes_portable(T{});
}

template const MeanShiftLanes<float>& mean_shift_lanes(Simd);
template const MeanShiftLanes<double>& mean_shift_lanes(Simd);

}  // namespace contorno
