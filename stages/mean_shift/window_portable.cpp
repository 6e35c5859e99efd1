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

WindowSums window_sums(Simd simd, int width) {
#if defined(__x86_64__)
  // Vectors twice as wide are slower where a row of the window fits into one of AVX2.
  constexpr int kAvx2Samples = 32 / sizeof(std::uint16_t);
  if (simd == Simd::Avx512 && width > kAvx2Samples) return window_sums_avx512();
  if (simd != Simd::Portable) return window_sums_avx2();
#endif
  static_cast<void>(simd), static_cast<void>(width);
  return window_sums_portable();
}

}  // namespace contorno
