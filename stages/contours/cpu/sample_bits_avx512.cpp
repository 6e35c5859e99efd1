#include "stages/contours/cpu/sample_bits_kernels.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,f16c,popcnt")

namespace contorno {
namespace {

template <class T>
class FloatLanes {
 public:
  using Level = float;
  static constexpr std::size_t kCount = 16;

  FloatLanes(std::uint64_t low, std::uint64_t range)
      : low_(_mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(low)))),
        range_(_mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(range)))) {}
  static __m512 load(const float* v) { return _mm512_loadu_ps(v); }
  static __m512 load(const Half* v) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(v)));
  }
  __mmask16 above(__m512 value, __m512 level) const { return _mm512_cmp_ps_mask(value, level, _CMP_GT_OQ); }
  __mmask16 outside(__m512 value, __m512 level) const {
    const __m512i bits = _mm512_castps_si512(_mm512_sub_ps(value, level));
    return _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(_mm512_add_epi32(bits, bits), low_), range_);
  }

 private:
  __m512i low_, range_;
};

template <>
class FloatLanes<double> {
 public:
  using Level = double;
  static constexpr std::size_t kCount = 8;

  FloatLanes(std::uint64_t low, std::uint64_t range)
      : low_(_mm512_set1_epi64(static_cast<long long>(low))),
        range_(_mm512_set1_epi64(static_cast<long long>(range))) {}
  static __m512d load(const double* v) { return _mm512_loadu_pd(v); }
  __mmask8 above(__m512d value, __m512d level) const { return _mm512_cmp_pd_mask(value, level, _CMP_GT_OQ); }
  __mmask8 outside(__m512d value, __m512d level) const {
    const __m512i bits = _mm512_castpd_si512(_mm512_sub_pd(value, level));
    return _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(_mm512_add_epi64(bits, bits), low_), range_);
  }

 private:
  __m512i low_, range_;
};

template <class T>
struct IntegerLanes;
template <>
struct IntegerLanes<std::uint8_t> {
  static constexpr std::size_t kCount = 64;
  static __mmask64 above(const std::uint8_t* v, const std::uint8_t* levels) {
    return _mm512_cmpgt_epu8_mask(_mm512_loadu_si512(v), _mm512_loadu_si512(levels));
  }
  static __mmask64 same(const std::uint8_t* v, const std::uint8_t* nears) {
    return _mm512_cmpeq_epu8_mask(_mm512_loadu_si512(v), _mm512_loadu_si512(nears));
  }
};
template <>
struct IntegerLanes<std::uint16_t> {
  static constexpr std::size_t kCount = 32;
  static __mmask32 above(const std::uint16_t* v, const std::uint16_t* levels) {
    return _mm512_cmpgt_epu16_mask(_mm512_loadu_si512(v), _mm512_loadu_si512(levels));
  }
  static __mmask32 same(const std::uint16_t* v, const std::uint16_t* nears) {
    return _mm512_cmpeq_epu16_mask(_mm512_loadu_si512(v), _mm512_loadu_si512(nears));
  }
};

#include "stages/contours/cpu/sample_bits_words.inc"

/// Each byte is a pixel; its bit k becomes a bit of word k.
void split(const Deinterleaver&, const std::uint64_t* flat, std::uint64_t* by_channel) {
  const __m512i pixels = _mm512_loadu_si512(flat);
  for (unsigned k = 0; k < 8; ++k) by_channel[k] = _mm512_movepi8_mask(_mm512_slli_epi64(pixels, 7 - k));
}

}  // namespace

BitKernel avx512_kernel(ElementType type) {
  return BitKernels{.u8 = integer_words<std::uint8_t>,
                    .u16 = integer_words<std::uint16_t>,
                    .f16 = float_words<Half>,
                    .f32 = float_words<float>,
                    .f64 = float_words<double>}
      .of(type);
}

SplitFunction avx512_split_of_8() {
  return split;
}

}  // namespace contorno
#endif
