// Rows of uint8 in linear light with AVX2: parabolas to light in vectors (LightParabolas), and back by a
// table in memory, sample by sample. Either keeps other units of the processor busy, so each step of a row
// makes the lights of 48 samples while those of the step before become codes.
#include "stages/mipmap_vectors.h"

namespace contorno {

#if defined(__x86_64__)

namespace {

using Vector = __m256i;
using Order = std::array<std::int8_t, 16>;

CONTORNO_AVX2 inline Vector load_lanes(const std::uint8_t* both) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(both));
}
CONTORNO_AVX2 inline Vector load_lanes(const std::uint8_t* low, const std::uint8_t* high) {
  return _mm256_loadu2_m128i(reinterpret_cast<const __m128i*>(high), reinterpret_cast<const __m128i*>(low));
}
CONTORNO_AVX2 inline void store32(void* at, Vector bytes) {
  _mm256_storeu_si256(static_cast<Vector*>(at), bytes);
}
/// 16 bytes for both lanes.
CONTORNO_AVX2 inline Vector both_lanes(const void* at) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(at)));
}

// To light.
// -------------------------------------------------------------------------------------------------------

class LightDecoder {
 public:
  CONTORNO_AVX2 explicit LightDecoder(const LightParabolas& given)
      : constants_{both_lanes(given.constants[0]), both_lanes(given.constants[1])},
        slopes_{both_lanes(given.slopes[0]), both_lanes(given.slopes[1])},
        curves_{both_lanes(given.curves[0]), both_lanes(given.curves[1])},
        fractions_(both_lanes(given.fractions)),
        low_bits_(_mm256_set1_epi8(15)) {}

  /// Rounded means of 16 times four lights: of the low and the high half of each lane, in two rows.
  CONTORNO_AVX2 Vector means(Vector upper, Vector lower) const {
    const Halves a = lights(upper), b = lights(lower);
    const Vector above = _mm256_avg_epu16(a.low, a.high), below = _mm256_avg_epu16(b.low, b.high);
    // Averages are rounded up: the last one by too much where it was uneven and so was one of the first two.
    const Vector odd = _mm256_or_si256(_mm256_xor_si256(a.low, a.high), _mm256_xor_si256(b.low, b.high));
    const Vector excess =
        _mm256_and_si256(_mm256_and_si256(odd, _mm256_xor_si256(above, below)), _mm256_set1_epi16(1));
    return _mm256_sub_epi16(_mm256_avg_epu16(above, below), excess);
  }

 private:
  struct Halves {
    Vector low, high;
  };
  CONTORNO_AVX2 static Halves words(Vector low_bytes, Vector high_bytes) {
    return {_mm256_unpacklo_epi8(low_bytes, high_bytes), _mm256_unpackhi_epi8(low_bytes, high_bytes)};
  }
  CONTORNO_AVX2 static Halves look_up(const Vector* table, Vector index) {
    return words(_mm256_shuffle_epi8(table[0], index), _mm256_shuffle_epi8(table[1], index));
  }
  CONTORNO_AVX2 static Halves product(const Halves& a, const Halves& b) {
    return {_mm256_mulhi_epu16(a.low, b.low), _mm256_mulhi_epu16(a.high, b.high)};
  }
  CONTORNO_AVX2 static Halves sum(const Halves& a, const Halves& b) {
    return {_mm256_add_epi16(a.low, b.low), _mm256_add_epi16(a.high, b.high)};
  }
  CONTORNO_AVX2 Halves lights(Vector codes) const {
    const Vector segment = _mm256_and_si256(_mm256_srli_epi16(codes, 4), low_bits_);
    const Halves x = words(_mm256_shuffle_epi8(fractions_, _mm256_min_epu8(codes, low_bits_)),
                           _mm256_add_epi8(codes, codes));
    const Halves chord = sum(product(look_up(curves_, segment), x), look_up(slopes_, segment));
    return sum(product(chord, x), look_up(constants_, segment));
  }

  Vector constants_[2], slopes_[2], curves_[2], fractions_, low_bits_;
};

// Rows into colours and alphas.
// -------------------------------------------------------------------------------------------------------

/// What a step takes of one row, ready for LightDecoder::means: left samples in the low half of each lane,
/// right ones in the high half. Alphas are summed in pairs, times 64, in the last words of every 64 bits.
template <int kC>
struct LightSamples {
  static constexpr int kAlphas = kC == 2 ? 6 : kC == 4 ? 4 : 0;
  Vector colours[3], alphas[std::max(1, kAlphas)];
};

/// Pixels of the output that a step makes.
template <int kC>
inline constexpr int kStep = std::array{48, 48, 12, 16}[kC - 1];
/// Bytes of a row that a step reads: of three channels four more than it uses.
template <int kC>
inline constexpr int kStepBytes = 2 * kC* kStep<kC> + (kC == 3 ? 4 : 0);
/// Colours in half a lane of 16 bytes.
template <int kC>
inline constexpr int kSideColours = std::array{8, 4, 6, 6}[kC - 1];

/// The bytes of a lane: left colours, the alphas of its first half, right colours, the other alphas.
template <int kC>
constexpr Order lane_order() {
  constexpr int kColours = kC % 2 == 0 ? kC - 1 : kC, kSide = kSideColours<kC>;
  Order order{};
  for (int i = 0; i < 16; ++i) {
    const int side = i / 8, k = i % 8;
    const int colour = (2 * (k / kColours) + side) * kC + k % kColours;
    const int alpha = 8 * side + (k - kSide) * kC + kC - 1;
    order[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(k < kSide ? colour : std::min(alpha, 15));
  }
  return order;
}
template <int kC>
constexpr Order alpha_weights() {
  Order weights{};
  for (int i = 0; i < 16; ++i) weights[static_cast<std::size_t>(i)] = i % 8 < kSideColours<kC> ? 0 : 64;
  return weights;
}

/// Asks for what a step some way ahead reads: the processor's own prefetching ends with a page, which is
/// soon.
template <int kC>
CONTORNO_AVX2 inline void prefetch_ahead(const std::uint8_t* row) {
  constexpr int kAhead = 512;
  for (int at = 0; at < kStepBytes<kC>; at += 64)
    _mm_prefetch(reinterpret_cast<const char*>(row + kAhead + at), _MM_HINT_T0);
}

template <int kC>
CONTORNO_AVX2 inline LightSamples<kC> take(const std::uint8_t* row) {
  static constexpr Order kOrder = lane_order<kC>(), kWeights = alpha_weights<kC>();
  const Vector order = both_lanes(kOrder.data()), weights = both_lanes(kWeights.data());
  LightSamples<kC> samples;
  Vector lanes[std::max(3, samples.kAlphas)];
  for (int i = 0; i < std::max(3, samples.kAlphas); ++i) {
    lanes[i] = _mm256_shuffle_epi8(
        kC == 3 ? load_lanes(row + 24 * i, row + 24 * i + 12) : load_lanes(row + 32 * i), order);
  }
  for (int i = 0; i < samples.kAlphas; ++i) samples.alphas[i] = _mm256_maddubs_epi16(lanes[i], weights);
  if constexpr (kC == 2) {  // four colours of either vector to half a lane
    for (int i = 0; i < 3; ++i)
      samples.colours[i] = _mm256_blend_epi32(lanes[2 * i], _mm256_slli_epi64(lanes[2 * i + 1], 32), 0xAA);
  } else if constexpr (kC == 4) {  // six, and two of the fourth vector
    samples.colours[0] = _mm256_blend_epi16(lanes[0], _mm256_slli_epi64(lanes[3], 48), 0x88);
    samples.colours[1] = _mm256_blend_epi16(lanes[1], _mm256_slli_epi64(lanes[3], 32), 0x88);
    samples.colours[2] = _mm256_blend_epi16(lanes[2], _mm256_slli_epi64(lanes[3], 16), 0x88);
  } else {
    std::copy_n(lanes, 3, samples.colours);
  }
  return samples;
}

/// Where the light `i` of a step's 48 comes to lie among the bytes of the output, or -1.
template <int kC>
constexpr int place(int i) {
  const int third = i / 16, lane = i / 8 % 2, k = i % 8;
  if (kC == 1) return i;
  if (kC == 2) return 2 * (16 * third + 8 * (k / 4) + 4 * lane + k % 4);
  if (kC == 3) return k < 6 ? 12 * third + 6 * lane + k : -1;
  const int last = 2 * third + k - 6;  // of the fourth vector
  return k < 6 ? 4 * (4 * third + 2 * lane + k / 3) + k % 3 : 4 * (12 + 2 * lane + last / 3) + last % 3;
}

/// Means of alpha in the last byte of every pixel, 0 in the others.
template <int kC>
CONTORNO_AVX2 inline void store_alphas(const LightSamples<kC>& upper, const LightSamples<kC>& lower,
                                       std::uint8_t* out) {
  for (int i = 0; i < LightSamples<kC>::kAlphas; i += 2) {
    const auto four = [&](int k) CONTORNO_AVX2 {
      return _mm256_castsi256_ps(_mm256_add_epi16(upper.alphas[k], lower.alphas[k]));
    };
    const Vector lanes = _mm256_castps_si256(_mm256_shuffle_ps(four(i), four(i + 1), 0xDD));
    const Vector rounded = _mm256_add_epi16(_mm256_permute4x64_epi64(lanes, 0xD8), _mm256_set1_epi16(128));
    store32(out + 16 * i, _mm256_and_si256(rounded, _mm256_set1_epi16(static_cast<short>(0xFF00))));
  }
}

// Back to codes.
// -------------------------------------------------------------------------------------------------------

template <int kC, int kThird>
inline __attribute__((always_inline)) void encode_third(const std::uint8_t* codes, const std::uint16_t* light,
                                                        std::uint8_t* out) {
#pragma GCC unroll 16
  for (int i = 16 * kThird; i < 16 * kThird + 16; ++i)
    if (place<kC>(i) >= 0) out[place<kC>(i)] = codes[light[i]];
}

template <int kC>
CONTORNO_AVX2 void halve_light_avx2(const MipmapLight& tables, const void* top, const void* bottom, void* out,
                                    int width) {
  const LightDecoder decoder(tables.vectors->parabolas);
  const std::uint8_t* codes = tables.vectors->codes;
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  alignas(32) std::uint16_t lights[2][48] = {};
  std::uint8_t nowhere[kC * kStep<kC>];
  std::uint8_t* before = nowhere;  // output of the step before
  const std::uint8_t* const end = upper + 2 * kC * static_cast<std::ptrdiff_t>(width);
  int now = 0;
  for (; end - upper >= kStepBytes<kC>; now ^= 1) {
    prefetch_ahead<kC>(upper), prefetch_ahead<kC>(lower);
    const LightSamples<kC> above = take<kC>(upper), below = take<kC>(lower);
    store_alphas<kC>(above, below, to);
    const std::uint16_t* made = lights[now ^ 1];
    store32(lights[now], decoder.means(above.colours[0], below.colours[0]));
    encode_third<kC, 0>(codes, made, before);
    store32(lights[now] + 16, decoder.means(above.colours[1], below.colours[1]));
    encode_third<kC, 1>(codes, made, before);
    store32(lights[now] + 32, decoder.means(above.colours[2], below.colours[2]));
    encode_third<kC, 2>(codes, made, before);
    before = to;
    upper += 2 * kC * kStep<kC>, lower += 2 * kC * kStep<kC>, to += kC * kStep<kC>;
  }
  const std::uint16_t* last = lights[now ^ 1];
  encode_third<kC, 0>(codes, last, before);
  encode_third<kC, 1>(codes, last, before);
  encode_third<kC, 2>(codes, last, before);
  const WholeRule<std::uint8_t, kC, Weighing::Plain, true> rule{tables};
  for (; upper < end; upper += 2 * kC, lower += 2 * kC, to += kC)
    rule.halve(upper, upper + kC, lower, lower + kC, to);
}

}  // namespace

HalveRow halve_light_avx2(int channels) {
  constexpr HalveRow kKernels[] = {halve_light_avx2<1>, halve_light_avx2<2>, halve_light_avx2<3>,
                                   halve_light_avx2<4>};
  return kKernels[channels - 1];
}

#endif

}  // namespace contorno
