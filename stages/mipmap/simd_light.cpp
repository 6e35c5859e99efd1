// Rows of uint8 in linear light with AVX2, by parabolas whose numbers are looked up in registers: samples to
// means of light, a block of the row at a time, and those to codes.
#include "stages/mipmap/vectors.h"

namespace contorno {

#if defined(__x86_64__)

namespace {

using Vector = __m256i;
using Order = std::array<std::uint8_t, 32>;
using Numbers = std::uint8_t[2][16];

CONTORNO_AVX2 inline Vector load32(const void* at) {
  return _mm256_loadu_si256(static_cast<const Vector*>(at));
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

/// LightParabolas in vectors. Multiplying bytes and adding neighbours up is one instruction, so left and
/// right samples of a pair stand side by side.
class LightDecoder {
 public:
  CONTORNO_AVX2 explicit LightDecoder(const LightParabolas& given)
      : constants_{both_lanes(given.constants[0]), both_lanes(given.constants[1])},
        slopes_{both_lanes(given.slopes[0]), both_lanes(given.slopes[1])},
        curves_(both_lanes(given.curves)),
        squares_(both_lanes(given.squares)),
        toe_(both_lanes(given.toe)) {}

  /// Means of 16 times four lights, 0..65535: their sum / 128, rounded down, as is the fine part of it.
  CONTORNO_AVX2 Vector means(Vector upper, Vector lower) const {
    const Parts a = parts(upper), b = parts(lower);
    return _mm256_add_epi16(_mm256_add_epi16(a.coarse, b.coarse),
                            _mm256_srli_epi16(_mm256_add_epi16(a.fine, b.fine), 7));
  }

 private:
  /// Of two samples, in units of four lights and of a 32nd.
  struct Parts {
    Vector coarse, fine;
  };
  CONTORNO_AVX2 Parts parts(Vector codes) const {
    const Vector low_bits = _mm256_set1_epi8(15);
    const Vector n = _mm256_and_si256(codes, low_bits);
    const Vector segment = _mm256_and_si256(_mm256_srli_epi16(codes, 4), low_bits);
    const auto product = [&](Vector table, Vector factor) CONTORNO_AVX2 {
      return _mm256_maddubs_epi16(_mm256_shuffle_epi8(table, segment), factor);
    };
    const Vector coarse =
        _mm256_add_epi16(product(constants_[1], _mm256_set1_epi8(64)), product(slopes_[1], n));
    const Vector bent =
        _mm256_add_epi16(product(slopes_[0], n), product(curves_, _mm256_shuffle_epi8(squares_, n)));
    // From code 16 on bit 7 is set, and the look-up gives 0.
    const Vector toe = _mm256_shuffle_epi8(toe_, _mm256_adds_epu8(codes, _mm256_set1_epi8(0x70)));
    const Vector lights = _mm256_or_si256(_mm256_shuffle_epi8(constants_[0], segment), toe);
    return {coarse, _mm256_add_epi16(bent, _mm256_maddubs_epi16(lights, _mm256_set1_epi8(32)))};
  }

  Vector constants_[2], slopes_[2], curves_, squares_, toe_;
};

// Rows into colours and alphas.
// -------------------------------------------------------------------------------------------------------

/// Pixels of the output in a step.
inline constexpr int kStep = 16;
/// Vectors of 16 words that a step makes: lights, then alphas.
template <int kC>
inline constexpr int kLights = kC >= 3 ? 3 : 1;
template <int kC>
inline constexpr int kWords = kLights<kC> + (kC % 2 == 0 ? 1 : 0);
/// Vectors of a row that it takes. A lane of them has eight, four, two or two pixels of the output.
template <int kC>
inline constexpr int kTaken = kC >= 3 ? 4 : kC;

/// The colours of a lane, then its alphas, left and right samples side by side.
template <int kC>
constexpr std::array<std::uint8_t, 16> lane_pairs() {
  constexpr int kColours = kC % 2 == 0 ? kC - 1 : kC, kPixels = kC == 3 ? 2 : 8 / kC;
  std::array<std::uint8_t, 16> pairs{};
  int at = 0;
  const auto add = [&](int pixel, int channel) {
    for (int side = 0; side < 2; ++side)
      pairs[static_cast<std::size_t>(at++)] = static_cast<std::uint8_t>((2 * pixel + side) * kC + channel);
  };
  for (int pixel = 0; pixel < kPixels; ++pixel)
    for (int c = 0; c < kColours; ++c) add(pixel, c);
  for (int pixel = 0; pixel < kPixels && kColours < kC; ++pixel) add(pixel, kC - 1);
  return pairs;
}

/// Byte shuffles for the kTaken vectors that a step reads of a row. Each lane has the order of lane_pairs(),
/// rotated by a different multiple of kAlphaBytes in each vector, so that the alphas (with three channels,
/// the unused bytes) are in different places. Blends then collect the alphas of all vectors in one, and put
/// colours of the last vector into their places.
template <int kC>
constexpr std::array<Order, kTaken<kC>> step_orders() {
  constexpr int kAlphaBytes = kC == 1 ? 0 : 16 / kTaken<kC>;
  std::array<Order, kTaken<kC>> orders{};
  for (int vector = 0; vector < kTaken<kC>; ++vector) {
    auto lane = lane_pairs<kC>();
    std::rotate(lane.begin() + vector * kAlphaBytes, lane.end() - kAlphaBytes, lane.end());
    Order& order = orders[static_cast<std::size_t>(vector)];
    std::copy(lane.begin(), lane.end(), std::copy(lane.begin(), lane.end(), order.begin()));
  }
  return orders;
}

/// What a step takes of one row.
template <int kC>
struct LightSamples {
  Vector colours[kLights<kC>], alphas;
};

template <int kC>
CONTORNO_AVX2 inline LightSamples<kC> take(const std::uint8_t* row) {
  alignas(32) static constexpr auto kOrders = step_orders<kC>();
  const auto part = [&](std::size_t i) CONTORNO_AVX2 {
    const Vector bytes = kC == 3 ? load_lanes(row + 24 * i, row + 24 * i + 12) : load32(row + 32 * i);
    return _mm256_shuffle_epi8(bytes, load32(kOrders[i].data()));
  };
  if constexpr (kC >= 3) {
    const Vector a = part(0), b = part(1), c = part(2), d = part(3);
    return {{_mm256_blend_epi32(a, d, 0x11), _mm256_blend_epi32(b, d, 0x22), _mm256_blend_epi32(c, d, 0x44)},
            _mm256_blend_epi32(_mm256_blend_epi32(a, b, 0x22), _mm256_blend_epi32(c, d, 0x88), 0xCC)};
  } else if constexpr (kC == 2) {
    const Vector a = part(0), b = part(1);
    return {{_mm256_blend_epi32(a, b, 0x33)}, _mm256_blend_epi32(a, b, 0xCC)};
  } else {
    return {{part(0)}, _mm256_setzero_si256()};
  }
}

/// Asks for what a step some way ahead reads: the processor's own prefetching ends with a page, which is
/// soon.
template <int kC>
CONTORNO_AVX2 inline void prefetch_ahead(const std::uint8_t* row) {
  constexpr int kAhead = 512;
  for (int at = 0; at < 2 * kC * kStep; at += 64)
    _mm_prefetch(reinterpret_cast<const char*>(row + kAhead + at), _MM_HINT_T0);
}

/// Means of a step: lights, and alphas in the high bytes.
template <int kC>
CONTORNO_AVX2 inline void make_step(const LightDecoder& decoder, const std::uint8_t* upper,
                                    const std::uint8_t* lower, std::uint16_t (*words)[16]) {
  const LightSamples<kC> above = take<kC>(upper), below = take<kC>(lower);
  if constexpr (kC % 2 == 0) {
    const Vector factor = _mm256_set1_epi8(64);
    const Vector four = _mm256_add_epi16(_mm256_maddubs_epi16(above.alphas, factor),
                                         _mm256_maddubs_epi16(below.alphas, factor));
    store32(words[kLights<kC>], _mm256_add_epi16(four, _mm256_set1_epi16(128)));
  }
  for (int i = 0; i < kLights<kC>; ++i) store32(words[i], decoder.means(above.colours[i], below.colours[i]));
}

// Back to codes.
// -------------------------------------------------------------------------------------------------------

/// 32 samples in words.
struct Samples {
  Vector first, second;
};

/// CodeParabolas in vectors.
class LightEncoder {
 public:
  CONTORNO_AVX2 explicit LightEncoder(const CodeParabolas& given)
      : bright_(both_lanes(given.bright)),
        dark_(both_lanes(given.dark)),
        scales_(both_lanes(given.scales)),
        constants_(both(given.constants)),
        slopes_(both(given.slopes)),
        curves_(both(given.curves)) {}

  /// Codes in the high bytes, with fractions below them.
  CONTORNO_AVX2 Samples codes(Vector first, Vector second) const {
    const Vector high = _mm256_packus_epi16(_mm256_srli_epi16(first, 8), _mm256_srli_epi16(second, 8));
    const Vector block = _mm256_and_si256(_mm256_srli_epi16(high, 4), _mm256_set1_epi8(15));
    // From 16 on bit 7 is set, and the look-up gives 0.
    const Vector dark = _mm256_shuffle_epi8(dark_, _mm256_adds_epu8(high, _mm256_set1_epi8(0x70)));
    const Vector segment = _mm256_or_si256(_mm256_shuffle_epi8(bright_, block), dark);
    const Samples scale = words(_mm256_shuffle_epi8(scales_, segment), _mm256_setzero_si256());
    const Samples constant = look_up(constants_, segment), slope = look_up(slopes_, segment),
                  curve = look_up(curves_, segment);
    return {code(first, scale.first, constant.first, slope.first, curve.first),
            code(second, scale.second, constant.second, slope.second, curve.second)};
  }

 private:
  CONTORNO_AVX2 static Samples both(const Numbers& bytes) {
    return {both_lanes(bytes[0]), both_lanes(bytes[1])};
  }
  CONTORNO_AVX2 static Vector code(Vector light, Vector scale, Vector constant, Vector slope, Vector curve) {
    const Vector x = _mm256_mullo_epi16(light, scale);
    const Vector chord = _mm256_sub_epi16(slope, _mm256_mulhi_epu16(curve, x));
    return _mm256_add_epi16(constant, _mm256_mulhi_epu16(chord, x));
  }
  CONTORNO_AVX2 static Samples words(Vector low_bytes, Vector high_bytes) {
    return {_mm256_unpacklo_epi8(low_bytes, high_bytes), _mm256_unpackhi_epi8(low_bytes, high_bytes)};
  }
  CONTORNO_AVX2 static Samples look_up(const Samples& table, Vector index) {
    return words(_mm256_shuffle_epi8(table.first, index), _mm256_shuffle_epi8(table.second, index));
  }

  Vector bright_, dark_, scales_;
  Samples constants_, slopes_, curves_;  ///< low bytes, high bytes
};

/// High bytes of `even` and `odd` words, one by one.
CONTORNO_AVX2 inline Vector high_bytes(Vector even, Vector odd) {
  return _mm256_blendv_epi8(_mm256_srli_epi16(even, 8), odd, _mm256_set1_epi16(static_cast<short>(0xFF00)));
}
/// Half lanes 0, 1, 2, 3 into the order 0, 2, 1, 3.
CONTORNO_AVX2 inline Vector swap_middle(Vector halves) {
  return _mm256_permute4x64_epi64(halves, 0xD8);
}

/// From the bytes of a step of three or four channels (codes of its first two words each, then of its third
/// and alpha) to half its output: the bytes of either that stand in one place of a lane, 128 where it is the
/// other's. A pixel has four bytes.
constexpr std::array<Order, 4> pixel_orders() {
  std::array<Order, 4> orders{};
  for (Order& order : orders) order.fill(128);
  const auto put = [&](int lane, int pixel, int channel, int vector, int word) {
    // Pixels 4 k + 2 lane + 0, 1 of the step: an eighth of its bytes.
    const int eighth = pixel / 4, to = 16 * lane + 8 * (eighth % 2) + 4 * (pixel % 2) + channel;
    orders[static_cast<std::size_t>(2 * (eighth / 2) + vector / 2)][static_cast<std::size_t>(to)] =
        static_cast<std::uint8_t>(2 * word + vector % 2);
  };
  for (int lane = 0; lane < 2; ++lane)
    for (int word = 0; word < 8; ++word) {
      put(lane, 4 * (word / 2) + 2 * lane + word % 2, 3, 3, word);
      for (int vector = 0; vector < 3; ++vector) {
        const int dword = word / 2, behind = dword > vector ? 1 : 0;
        // In the place of its alphas a vector has colours of the fourth one.
        const int from = dword == vector ? 3 : vector;
        const int colour = 2 * (dword == vector ? vector : dword - behind) + word % 2;
        put(lane, 4 * from + 2 * lane + colour / 3, colour % 3, vector, word);
      }
    }
  return orders;
}

template <int kC>
CONTORNO_AVX2 inline void store_pixels(Vector first, Vector second, Vector third, Vector alphas,
                                       std::uint8_t* out) {
  alignas(32) static constexpr auto kOrders = pixel_orders();
  const Vector one = high_bytes(first, second), other = high_bytes(third, alphas);
  for (std::size_t half = 0; half < 2; ++half, out += 8 * kC) {
    const Vector pixels =
        swap_middle(_mm256_or_si256(_mm256_shuffle_epi8(one, load32(kOrders[2 * half].data())),
                                    _mm256_shuffle_epi8(other, load32(kOrders[2 * half + 1].data()))));
    if constexpr (kC == 4) {
      store32(out, pixels);
    } else {
      const Vector tight = _mm256_shuffle_epi8(
          pixels,
          _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 12, 13, 14, 15)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(tight));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out + 12), _mm256_extracti128_si256(tight, 1));
    }
  }
}

/// Two steps. Of three channels four bytes more than they have are written.
template <int kC>
CONTORNO_AVX2 inline void encode_steps(const LightEncoder& encoder, const std::uint16_t (*words)[16],
                                       std::uint8_t* out) {
  const auto word = [&](int i) CONTORNO_AVX2 { return load32(words[i]); };
  constexpr int kNext = kWords<kC>;
  if constexpr (kC >= 3) {
    const Samples a = encoder.codes(word(0), word(1)), b = encoder.codes(word(2), word(kNext)),
                  c = encoder.codes(word(kNext + 1), word(kNext + 2));
    store_pixels<kC>(a.first, a.second, b.first, word(kNext - 1), out);
    store_pixels<kC>(b.second, c.first, c.second, word(2 * kNext - 1), out + kC * kStep);
  } else {
    const Samples both = encoder.codes(word(0), word(kNext));
    if constexpr (kC == 2) {  // colours have the halves of their lanes the wrong way round
      store32(out, swap_middle(high_bytes(_mm256_shuffle_epi32(both.first, 0x4E), word(1))));
      store32(out + 32, swap_middle(high_bytes(_mm256_shuffle_epi32(both.second, 0x4E), word(3))));
    } else {
      store32(out, swap_middle(_mm256_packus_epi16(_mm256_srli_epi16(both.first, 8),
                                                   _mm256_srli_epi16(both.second, 8))));
    }
  }
}

template <int kC>
CONTORNO_AVX2 void halve_light_avx2(const MipmapLight& light, const void* top, const void* bottom, void* out,
                                    int width) {
  constexpr int kPair = 2 * kStep,
                kBlock = 16;  // pixels; pairs whose words stay in the first-level cache
  alignas(32) std::uint16_t words[2 * kBlock * kWords<kC>][16];
  const auto* upper = static_cast<const std::uint8_t*>(top);
  const auto* lower = static_cast<const std::uint8_t*>(bottom);
  auto* to = static_cast<std::uint8_t*>(out);
  const std::uint8_t* const end = to + kC * static_cast<std::ptrdiff_t>(width);
  // With three channels pixels are left for what is read and written too much.
  const int pairs = (kC == 3 ? width - 2 : width) / kPair;
  for (int done = 0; done < pairs; done += kBlock) {
    const int steps = 2 * std::min(kBlock, pairs - done);
    const LightDecoder decoder(light.tables->to_light);
    for (int step = 0; step < steps; ++step) {
      prefetch_ahead<kC>(upper), prefetch_ahead<kC>(lower);
      make_step<kC>(decoder, upper, lower, words + step * kWords<kC>);
      upper += 2 * kC * kStep, lower += 2 * kC * kStep;
    }
    const LightEncoder encoder(light.tables->to_code);
    for (int step = 0; step < steps; step += 2, to += kC * kPair)
      encode_steps<kC>(encoder, words + step * kWords<kC>, to);
  }
  const WholeRule<std::uint8_t, kC, Weighing::Plain, true> rule{light};
  for (; to < end; upper += 2 * kC, lower += 2 * kC, to += kC)
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
