// Rows of uint8 by hand. All kernels bring the two samples that are averaged side by side with a byte
// shuffle, add them up in 16 bits, and so on: nothing is rounded but the sum of four.
#include "stages/mipmap_vectors.h"

#if defined(__x86_64__)
#define CONTORNO_AVX2 __attribute__((target("avx2")))
#endif

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

template <int kC>
CONTORNO_AVX2 void halve_bytes_avx2(const MipmapLight&, const void* top, const void* bottom, void* out,
                                    int width) {
  static constexpr auto kOrder = pair_order<kC>();
  const __m256i order =
      _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(kOrder.data())));
  const __m256i ones = _mm256_set1_epi8(1), half = _mm256_set1_epi16(2);
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  const auto mean = [&](int at) CONTORNO_AVX2 {
    const __m256i a = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(upper + at));
    const __m256i b = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(lower + at));
    const __m256i sum = _mm256_add_epi16(_mm256_maddubs_epi16(_mm256_shuffle_epi8(a, order), ones),
                                         _mm256_maddubs_epi16(_mm256_shuffle_epi8(b, order), ones));
    return _mm256_srli_epi16(_mm256_add_epi16(sum, half), 2);
  };
  const int samples = width * kC;
  int i = 0;
  for (; i + 32 <= samples; i += 32) {
    const __m256i packed = _mm256_packus_epi16(mean(2 * i), mean(2 * i + 32));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), _mm256_permute4x64_epi64(packed, 0xD8));
  }
  halve_bytes_portable<kC>(upper, lower, to, i, samples);
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
CONTORNO_VBMI void halve_bytes_vbmi(const MipmapLight&, const void* top, const void* bottom, void* out,
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

HalveRow halve_row_simd(const MipmapPlan& plan, Simd simd) {
  const bool bytes = plan.image.type == ElementType::U8 && plan.sums == MipmapSums::Whole;
  if (!bytes || plan.options.premultiplied || plan.apart()) return nullptr;
  const auto kernel = static_cast<std::size_t>(plan.step() - 1);
  if (plan.light) return simd == Simd::Avx512 ? halve_light_simd(plan.step()) : nullptr;
  if (simd == Simd::Portable) return nullptr;
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

#endif

}  // namespace contorno
