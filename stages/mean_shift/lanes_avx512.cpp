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
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2")
// Only templates over vectors of this width come from here on.
#include "stages/mean_shift/weight.h"

#define CONTORNO_VECTORS_512  // the compiler's own names are not there when a cache preprocesses first

namespace contorno {
namespace shift_avx512 {

inline constexpr int kVectorBytes = 64;
#include "stages/mean_shift/lanes.inc"

}  // namespace shift_avx512

const MeanShiftLanes<float>& mean_shift_lanes_avx512(float) {
  return shift_avx512::kLanes<float>;
}
const MeanShiftLanes<double>& mean_shift_lanes_avx512(double) {
  return shift_avx512::kLanes<double>;
}

}  // namespace contorno
#endif
