#include <algorithm>
#include <cstdint>

#include "stages/mean_shift/window.h"

#pragma GCC diagnostic ignored "-Wpsabi"

namespace contorno {
namespace window_portable {

inline constexpr int kVectorBytes = 16;
#include "stages/mean_shift/window.inc"

}  // namespace window_portable

WindowSums window_sums_portable() {
  return window_portable::sums_around;
}

WindowSums window_sums(Simd simd) {
#if defined(__x86_64__)
  if (simd == Simd::Avx512) return window_sums_avx512();
  if (simd == Simd::Avx2) return window_sums_avx2();
#endif
  static_cast<void>(simd);
  return window_sums_portable();
}

}  // namespace contorno
