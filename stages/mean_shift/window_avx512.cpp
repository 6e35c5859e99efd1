#include <algorithm>
#include <cstdint>

#include "stages/mean_shift/window.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
// GCC warns of how wide vectors are handed to functions, which are all in this file.
#pragma GCC diagnostic ignored "-Wpsabi"
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2")

#define CONTORNO_VECTORS_512  // the compiler's own names are not there when a cache preprocesses first

namespace contorno {
namespace window_avx512 {

inline constexpr int kVectorBytes = 64;
#include "stages/mean_shift/window.inc"

}  // namespace window_avx512

WindowSums window_sums_avx512() {
  return window_avx512::sums_around;
}

}  // namespace contorno
#endif
