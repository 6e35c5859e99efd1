// What the vector kernels of mipmap share. With AVX-512, 64 bytes of each of two rows (48 with three
// channels) make 32 samples (24) of the next level. Internal; nearly empty for other processors than x86-64.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "stages/mipmap/rows.h"
#include "stages/shared/intrinsics.h"
#include "stages/shared/simd.h"

#if defined(__x86_64__)
#define CONTORNO_VBMI \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vnni,avx2,bmi2")))
#endif

namespace contorno {

/// Whether this machine has the instructions that CONTORNO_VBMI compiles for.
bool has_vbmi();

#if defined(__x86_64__)

template <int kC>
inline constexpr int kSamples = kC == 3 ? 24 : 32;  // samples of the output that are made at a time

/// Which of 64 bytes output sample `out` takes from the left (side 0) or right (1) pixel of its pair.
template <int kC>
constexpr int source_byte(int out, int side) {
  return std::min(63, (2 * (out / kC) + side) * kC + out % kC);
}

CONTORNO_VBMI inline __m512i load64(const void* at) {
  return _mm512_loadu_si512(at);
}
/// The first `count` bytes, at most 64; zeros after them.
CONTORNO_VBMI inline __m512i load_some(const std::uint8_t* at, int count) {
  if (count >= 64) [[likely]]
    return load64(at);
  return _mm512_maskz_loadu_epi8((1ULL << count) - 1, at);
}

#endif

}  // namespace contorno
