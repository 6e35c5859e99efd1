// What the vector kernels of mipmap share. AVX-512: 64 bytes of either row (48 of three channels) make 32
// (24) samples of the next level. Internal; empty but for x86.
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

/// Whether this machine has what CONTORNO_VBMI says.
bool has_vbmi();
/// The kernel for light of so many channels.
HalveRow halve_light_avx2(int channels);

#if defined(__x86_64__)

template <int kC>
inline constexpr int kSamples = kC == 3 ? 24 : 32;  // of the output at a time

template <int kC>
constexpr int source_byte(int out, int side) {
  return std::min(63, (2 * (out / kC) + side) * kC + out % kC);
}

CONTORNO_VBMI inline __m512i load64(const void* at) {
  return _mm512_loadu_si512(at);
}
/// The first `count` bytes, at most 64.
CONTORNO_VBMI inline __m512i load_some(const std::uint8_t* at, int count) {
  if (count >= 64) [[likely]]
    return load64(at);
  return _mm512_maskz_loadu_epi8((1ULL << count) - 1, at);
}

#endif

}  // namespace contorno
