#include <algorithm>
#include <cstdint>

#include "stages/mean_shift/window.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
// GCC warns of how wide vectors are handed to functions, which are all in this file.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC target("avx2")

#define CONTORNO_VECTORS_256  // the compiler's own names are not there when a cache preprocesses first

namespace contorno {
namespace window_avx2 {

inline constexpr int kVectorBytes = 32;
#include "stages/mean_shift/window.inc"

}  // namespace window_avx2

WindowSums window_sums_avx2() {
  return window_avx2::sums_around;
}

}  // namespace contorno
#endif
