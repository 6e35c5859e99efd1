// Rows of uint8 in linear light with AVX-512, which looks both tables up in registers.
#include "stages/mipmap_vectors.h"

namespace contorno {

#if defined(__x86_64__)

namespace {

/// Without alpha: all outputs in order. With it: all colours in order, then all alphas. Eight to a lane: four
/// in its low half, which is unpacked for itself, four in its high one.
template <int kC, int kKept>
constexpr std::array<std::uint8_t, 64> pairs_by_halves() {
  constexpr int kColours = kSamples<kC> / kC * kKept;
  std::array<std::uint8_t, 64> order{};
  for (int i = 0; i < 64; ++i) {
    const int out = i / 2;
    const int alpha = (2 * (out - kColours) + i % 2) * kC + kC - 1;
    order[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(kKept < kC && out >= kColours ? alpha : source_byte<kC>(out, i % 2, kKept));
  }
  return order;
}

struct ByteTable {
  __m512i part[4];
};
CONTORNO_VBMI inline ByteTable load_table(const std::uint8_t* table) {
  return {{load64(table), load64(table + 64), load64(table + 128), load64(table + 192)}};
}
CONTORNO_VBMI inline __m512i look_up(const ByteTable& table, __m512i index) {
  return _mm512_mask_blend_epi8(_mm512_movepi8_mask(index),
                                _mm512_permutex2var_epi8(table.part[0], index, table.part[1]),
                                _mm512_permutex2var_epi8(table.part[2], index, table.part[3]));
}

/// Two rows on their way to light: signed, in the order of pairs_by_halves.
struct LightPair {
  __m512i low, high;
};
template <int kC, int kKept>
CONTORNO_VBMI inline LightPair decode(const ByteTable& low, const ByteTable& high, __m512i codes) {
  LightPair pair{look_up(low, codes), look_up(high, codes)};
  if constexpr (kKept < kC) {  // alpha is itself, less 32768
    constexpr std::uint64_t kAlphas = ~0ULL << (kC == 2 ? 32 : 48);
    pair.low = _mm512_mask_mov_epi8(pair.low, kAlphas, codes);
    pair.high = _mm512_mask_mov_epi8(pair.high, kAlphas, _mm512_set1_epi8(-128));
  }
  return pair;
}

/// Means of light, 0..65535, of `pixels` pixels' first kKept channels; those of alpha apart.
template <int kC, int kKept>
CONTORNO_VBMI void halve_to_light(const LightVectors& vectors, const std::uint8_t* upper,
                                  const std::uint8_t* lower, int pixels, std::uint16_t* light,
                                  std::uint16_t* alphas) {
  alignas(64) static constexpr auto kOrder = pairs_by_halves<kC, kKept>();
  const __m512i order = load64(kOrder.data()), ones = _mm512_set1_epi16(1);
  const __m512i bias = _mm512_set1_epi32(4 * 32768 + 2);
  const ByteTable low = load_table(vectors.low), high = load_table(vectors.high);
  constexpr int kPixels = kSamples<kC> / kC;
  const auto mean = [&](__m512i one, __m512i other) CONTORNO_VBMI {
    const __m512i four = _mm512_dpwssd_epi32(_mm512_dpwssd_epi32(bias, one, ones), other, ones);
    return _mm512_srli_epi32(four, 2);
  };
  for (int x = 0; x < pixels; x += kPixels, light += kPixels * kKept) {
    const int bytes = 2 * kC * (pixels - x);
    const LightPair a =
        decode<kC, kKept>(low, high, _mm512_permutexvar_epi8(order, load_some(upper + 2 * kC * x, bytes)));
    const LightPair b =
        decode<kC, kKept>(low, high, _mm512_permutexvar_epi8(order, load_some(lower + 2 * kC * x, bytes)));
    const __m512i made =
        _mm512_packus_epi32(mean(_mm512_unpacklo_epi8(a.low, a.high), _mm512_unpacklo_epi8(b.low, b.high)),
                            mean(_mm512_unpackhi_epi8(a.low, a.high), _mm512_unpackhi_epi8(b.low, b.high)));
    // What is stored beyond the block's outputs is written over by the next one.
    _mm512_storeu_si512(light, made);
    if constexpr (kC == 2 && kKept < kC)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(alphas + x), _mm512_extracti64x4_epi64(made, 1));
    if constexpr (kC == 4 && kKept < kC)
      _mm_storeu_si128(reinterpret_cast<__m128i*>(alphas + x), _mm512_extracti32x4_epi32(made, 3));
  }
}

/// Codes of light from kSmallLight on, in 32 bits.
CONTORNO_VBMI inline __m512i codes_by_cubic(const LightVectors& vectors, __m512i light) {
  const __m512 x = _mm512_cvtepi32_ps(light);
  const __m512i piece = _mm512_srli_epi32(_mm512_castps_si512(x), 21);
  const auto number = [&](int k) CONTORNO_VBMI {
    return _mm512_permutex2var_ps(_mm512_load_ps(vectors.cubic[k]), piece,
                                  _mm512_load_ps(vectors.cubic[k] + 16));
  };
  __m512 sum = _mm512_fmadd_ps(x, number(3), number(2));
  sum = _mm512_fmadd_ps(x, sum, number(1));
  sum = _mm512_fmadd_ps(x, sum, number(0));
  return _mm512_cvttps_epi32(sum);
}

/// Unpacking and packing stay within lanes, so that the order is kept.
CONTORNO_VBMI inline __m512i encode32(const LightVectors& vectors, __m512i light) {
  const __m512i zero = _mm512_setzero_si512();
  return _mm512_packus_epi32(codes_by_cubic(vectors, _mm512_unpacklo_epi16(light, zero)),
                             codes_by_cubic(vectors, _mm512_unpackhi_epi16(light, zero)));
}

CONTORNO_VBMI void encode_light_vbmi(const LightVectors& vectors, const std::uint16_t* light, int count,
                                     std::uint8_t* codes) {
  const ByteTable small = load_table(vectors.small);
  const __m512i lanes = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
  const __m512i small_end = _mm512_set1_epi16(kSmallLight);
  for (int i = 0; i < count; i += 64) {
    const std::uint64_t some = count - i >= 64 ? ~0ULL : (1ULL << (count - i)) - 1;
    const __m512i first = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(some), light + i);
    const __m512i second = _mm512_maskz_loadu_epi16(static_cast<__mmask32>(some >> 32), light + i + 32);
    const __m512i both = _mm512_packus_epi16(encode32(vectors, first), encode32(vectors, second));
    __m512i made = _mm512_permutexvar_epi64(lanes, both);
    const std::uint64_t below = _mm512_cmplt_epu16_mask(first, small_end) |
                                static_cast<std::uint64_t>(_mm512_cmplt_epu16_mask(second, small_end)) << 32;
    if (below != 0) {
      const __m512i low = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(first)),
                                             _mm512_cvtepi16_epi8(second), 1);
      made = _mm512_mask_blend_epi8(below, made, look_up(small, low));
    }
    _mm512_mask_storeu_epi8(codes + i, some, made);
  }
}

/// Puts the alphas of `pixels` pixels between their colours.
template <int kC>
CONTORNO_VBMI void join(const std::uint8_t* colours, const std::uint16_t* alphas, int pixels,
                        std::uint8_t* out) {
  alignas(64) static constexpr auto kFrom = [] {
    std::array<std::uint8_t, 64> from{};
    for (int i = 0; i < 64; ++i)
      from[static_cast<std::size_t>(i)] =
          static_cast<std::uint8_t>(i % kC == kC - 1 ? 64 + i / kC : i / kC * (kC - 1) + i % kC);
    return from;
  }();
  constexpr int kPixels = 64 / kC;
  const __m512i from = load64(kFrom.data());
  for (int x = 0; x < pixels; x += kPixels, colours += kPixels * (kC - 1), out += 64) {
    const int bytes = std::min(64, (pixels - x) * kC);
    const __m512i bytes_of_alpha = _mm512_castsi256_si512(_mm512_cvtepi16_epi8(load64(alphas + x)));
    _mm512_mask_storeu_epi8(out, bytes == 64 ? ~0ULL : (1ULL << bytes) - 1,
                            _mm512_permutex2var_epi8(load64(colours), from, bytes_of_alpha));
  }
}

template <int kC>
CONTORNO_VBMI void halve_light_vbmi(const MipmapLight& tables, const void* top, const void* bottom, void* out,
                                    int width) {
  constexpr bool kAlpha = kC % 2 == 0;
  constexpr int kKept = kAlpha ? kC - 1 : kC;
  constexpr int kTogether = 768;  // px: a multiple of what every loop takes
  alignas(64) std::uint16_t light[kTogether * kKept + 64];
  alignas(64) std::uint16_t alphas[kTogether + 64];
  alignas(64) std::uint8_t colours[kTogether * kKept + 64];
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  for (int x = 0; x < width; x += kTogether) {
    const int pixels = std::min(kTogether, width - x);
    halve_to_light<kC, kKept>(*tables.vectors, upper + 2 * kC * x, lower + 2 * kC * x, pixels, light, alphas);
    std::uint8_t* codes = kAlpha ? colours : to + kC * x;
    encode_light_vbmi(*tables.vectors, light, pixels * kKept, codes);
    if constexpr (kAlpha) join<kC>(colours, alphas, pixels, to + kC * x);
  }
}

}  // namespace

HalveRow halve_light_simd(int channels, Simd simd) {
  if (simd == Simd::Portable) return nullptr;
  constexpr HalveRow kWide[] = {halve_light_vbmi<1>, halve_light_vbmi<2>, halve_light_vbmi<3>,
                                halve_light_vbmi<4>};
  return simd == Simd::Avx512 && has_vbmi() ? kWide[channels - 1] : halve_light_avx2(channels);
}
EncodeLight encode_light_simd() {
  return has_vbmi() ? encode_light_vbmi : nullptr;
}

#else

HalveRow halve_light_simd(int, Simd) {
  return nullptr;
}
EncodeLight encode_light_simd() {
  return nullptr;
}

#endif

}  // namespace contorno
