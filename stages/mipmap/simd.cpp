// Rows of uint8 by hand. All kernels bring the two samples that are averaged side by side with a byte
// shuffle, add them up in 16 bits, and so on: nothing is rounded but the sum of four.
#include "stages/mipmap/vectors.h"

namespace contorno {

#if defined(__x86_64__)

namespace {

template <int kC>
void halve_bytes_portable(const std::uint8_t* top, const std::uint8_t* bottom, std::uint8_t* out, int first,
                          int samples) {
  for (int i = first; i < samples; ++i) {
    const std::ptrdiff_t left = i / kC * 2 * kC + i % kC, right = left + kC;
    out[i] = static_cast<std::uint8_t>((top[left] + top[right] + bottom[left] + bottom[right] + 2) >> 2);
  }
}

// AVX2: 16 bytes of either row make 8 of the output, two lanes at a time. Three channels are left to the
// compiler.
// -------------------------------------------------------------------------------------------------------

template <int kC>
constexpr std::array<std::int8_t, 16> pair_order() {
  std::array<std::int8_t, 16> order{};
  for (int out = 0; out < 8; ++out)
    for (int side = 0; side < 2; ++side)
      order[static_cast<std::size_t>(2 * out + side)] =
          static_cast<std::int8_t>((2 * (out / kC) + side) * kC + out % kC);
  return order;
}

/// Means of two by two samples.
template <int kC>
struct MeansAvx2 {
  __m256i order, ones, half;

  CONTORNO_AVX2 MeansAvx2() : ones(_mm256_set1_epi8(1)), half(_mm256_set1_epi16(2)) {
    static constexpr auto kOrder = pair_order<kC>();
    order = _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kOrder.data())));
  }
  /// The sums of 32 samples of either row, in 16 bits.
  CONTORNO_AVX2 __m256i words(__m256i top, __m256i bottom) const {
    const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_shuffle_epi8(top, order), ones),
                                         _mm256_maddubs_epi16(_mm256_shuffle_epi8(bottom, order), ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, half), 2);
  }
  CONTORNO_AVX2 __m256i bytes(__m256i top, __m256i top_right, __m256i bottom, __m256i bottom_right) const {
    return _mm256_permute4x64_epi64(_mm256_packus_epi16(words(top, bottom), words(top_right, bottom_right)),
                                    0xD8);
  }
  CONTORNO_AVX2 __m256i bytes(const std::uint8_t* top, const std::uint8_t* bottom) const {
    return bytes(load32(top), load32(top + 32), load32(bottom), load32(bottom + 32));
  }
  CONTORNO_AVX2 static __m256i load32(const std::uint8_t* at) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  }
};

CONTORNO_AVX2 void store32(std::uint8_t* at, __m256i bytes) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), bytes);
}

template <int kC>
CONTORNO_AVX2 void halve_bytes_avx2(const LightTables*, const void* top, const void* bottom, void* out,
                                    int width) {
  const MeansAvx2<kC> means;
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  const int samples = width * kC;
  int i = 0;
  for (; i + 32 <= samples; i += 32) store32(to + i, means.bytes(upper + 2 * i, lower + 2 * i));
  halve_bytes_portable<kC>(upper, lower, to, i, samples);
}

/// A line of the cache of either half row at a time, so that stores past the cache are whole.
template <int kC, bool kPastCache>
CONTORNO_AVX2 void halve_twice_avx2(const HalvedTwice& given) {
  const HalvedTwice rows = given;  // what is stored may alias what is referred to
  const MeansAvx2<kC> means;
  const auto store_half = [](std::uint8_t* at, __m256i bytes) CONTORNO_AVX2 {
    if constexpr (kPastCache)
      _mm256_stream_si256(reinterpret_cast<__m256i*>(at), bytes);
    else
      store32(at, bytes);
  };
  const int samples = rows.half_width * kC;
  int i = 0;
  for (; i + 64 <= samples; i += 64) {
    __m256i made[2][2];
    for (int k = 0; k < 2; ++k)
      for (int side = 0; side < 2; ++side) {
        const int at = 2 * i + 64 * side;
        made[k][side] = means.bytes(rows.in[2 * k] + at, rows.in[2 * k + 1] + at);
        store_half(rows.half[k] + i + 32 * side, made[k][side]);
      }
    store32(rows.quarter + i / 2, means.bytes(made[0][0], made[0][1], made[1][0], made[1][1]));
  }
  for (int k = 0; k < 2; ++k)
    halve_bytes_portable<kC>(rows.in[2 * k], rows.in[2 * k + 1], rows.half[k], i, samples);
  halve_bytes_portable<kC>(rows.half[0], rows.half[1], rows.quarter, i / 2, rows.width * kC);
  if constexpr (kPastCache) _mm_sfence();
}

template <int kC>
void halve_bytes_twice(const HalvedTwice& rows) {
  const auto starts_line = [](const void* at) { return reinterpret_cast<std::uintptr_t>(at) % 64 == 0; };
  if (rows.past_cache && starts_line(rows.half[0]) && starts_line(rows.half[1]))
    halve_twice_avx2<kC, true>(rows);
  else
    halve_twice_avx2<kC, false>(rows);
}

// AVX-512 with byte permutations: 64 bytes of either row (48 of three channels) make 32 (24).
// -------------------------------------------------------------------------------------------------------

template <int kC>
constexpr std::array<std::uint8_t, 64> pairs_in_order() {
  std::array<std::uint8_t, 64> order{};
  for (int i = 0; i < 64; ++i)
    order[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(source_byte<kC>(i / 2, i % 2));
  return order;
}

template <int kC>
CONTORNO_VBMI void halve_bytes_vbmi(const LightTables*, const void* top, const void* bottom, void* out,
                                    int width) {
  alignas(64) static constexpr auto kOrder = pairs_in_order<kC>();
  const __m512i order = load64(kOrder.data()), ones = _mm512_set1_epi8(1), half = _mm512_set1_epi16(2);
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  const auto mean = [&](__m512i a, __m512i b) CONTORNO_VBMI {
    const __m512i sum = _mm512_add_epi16(_mm512_maddubs_epi16(_mm512_permutexvar_epi8(order, a), ones),
                                         _mm512_maddubs_epi16(_mm512_permutexvar_epi8(order, b), ones));
    return _mm512_cvtepi16_epi8(_mm512_srli_epi16(_mm512_add_epi16(sum, half), 2));
  };
  const int samples = width * kC;
  int i = 0;
  // What is stored beyond kSamples is written over by the next round, or by the last one.
  for (; i + 32 <= samples; i += kSamples<kC>)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i),
                        mean(load64(upper + 2 * i), load64(lower + 2 * i)));
  for (; i < samples; i += kSamples<kC>) {
    const int rest = std::min(samples - i, kSamples<kC>);
    const __m256i made = mean(load_some(upper + 2 * i, 2 * rest), load_some(lower + 2 * i, 2 * rest));
    _mm256_mask_storeu_epi8(to + i, static_cast<__mmask32>(rest == 32 ? ~0U : (1U << rest) - 1), made);
  }
}

}  // namespace

bool has_vbmi() {
  static const bool has = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
                          best_simd() == Simd::Avx512;
  return has;
}

namespace {

/// Kernels for bytes know these pixels.
bool plain_bytes(const MipmapPlan& plan) {
  return plan.image.type == ElementType::U8 && plan.sums == MipmapSums::Whole &&
         !plan.options.premultiplied && !plan.light && !plan.apart();
}

}  // namespace

HalveTwice halve_twice(const MipmapPlan& plan, Simd simd) {
  if (!plain_bytes(plan) || simd == Simd::Portable) return nullptr;
  constexpr HalveTwice kKernels[] = {halve_bytes_twice<1>, halve_bytes_twice<2>, nullptr,
                                     halve_bytes_twice<4>};
  return kKernels[plan.step() - 1];
}

HalveRow halve_row_simd(const MipmapPlan& plan, Simd simd) {
  if (!plain_bytes(plan) || simd == Simd::Portable) return nullptr;
  const auto kernel = static_cast<std::size_t>(plan.step() - 1);
  constexpr HalveRow kWide[] = {halve_bytes_vbmi<1>, halve_bytes_vbmi<2>, halve_bytes_vbmi<3>,
                                halve_bytes_vbmi<4>};
  constexpr HalveRow kNarrow[] = {halve_bytes_avx2<1>, halve_bytes_avx2<2>, nullptr, halve_bytes_avx2<4>};
  return simd == Simd::Avx512 && has_vbmi() ? kWide[kernel] : kNarrow[kernel];
}

#else

bool has_vbmi() {
  return false;
}
HalveRow halve_row_simd(const MipmapPlan&, Simd) {
  return nullptr;
}
HalveTwice halve_twice(const MipmapPlan&, Simd) {
  return nullptr;
}

#endif

}  // namespace contorno
