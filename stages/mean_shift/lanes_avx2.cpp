#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "stages/mean_shift/lanes.h"
#include "stages/mean_shift/lanes_sets.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
// GCC warns of how wide vectors are handed to functions, which are all in this file.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC target("avx2")
// Only templates over vectors of this width come from here on.
#include "stages/mean_shift/weight.h"

#define CONTORNO_VECTORS_256  // the compiler's own names are not there when a cache preprocesses first

namespace contorno {
namespace shift_avx2 {

inline constexpr int kVectorBytes = 32;
#include "stages/mean_shift/lanes.inc"

}  // namespace shift_avx2

const MeanShiftLanes<float>& mean_shift_lanes_avx2(float) {
  return shift_avx2::kLanes<float>;
}
const MeanShiftLanes<double>& mean_shift_lanes_avx2(double) {
  return shift_avx2::kLanes<double>;
}

}  // namespace contorno
#endif
