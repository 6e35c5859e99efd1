#include <algorithm>
#include <cstdint>

#include "stages/mean_shift/window.h"

#if defined(__x86_64__)
// As in lanes_avx512.cpp.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wpsabi"
#include <immintrin.h>
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
