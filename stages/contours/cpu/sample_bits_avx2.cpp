#include "stages/contours/cpu/sample_bits_kernels.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
#pragma GCC target("avx2,bmi2,f16c,popcnt")

namespace contorno {
namespace {

template <class T>
class FloatLanes {
 public:
  using Level = float;
  static constexpr std::size_t kCount = 8;

  FloatLanes(std::uint64_t low, std::uint64_t range) : low_(moved(low)), range_(moved(range)) {}
  static __m256 load(const float* v) { return _mm256_loadu_ps(v); }
  static __m256 load(const Half* v) {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
  }
  unsigned above(__m256 value, __m256 level) const {
    return static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(value, level, _CMP_GT_OQ)));
  }
  unsigned outside(__m256 value, __m256 level) const {
    const __m256i bits = _mm256_castps_si256(_mm256_sub_ps(value, level));
    const __m256i distance = _mm256_sub_epi32(_mm256_add_epi32(bits, bits), low_);
    return static_cast<unsigned>(
        _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(distance, range_))));
  }

 private:
  /// Unsigned "greater" as a signed one: both sides moved by 2^31.
  static __m256i moved(std::uint64_t value) {
    return _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(value) + 0x80000000U));
  }

  __m256i low_, range_;
};

template <>
class FloatLanes<double> {
 public:
  using Level = double;
  static constexpr std::size_t kCount = 4;

  FloatLanes(std::uint64_t low, std::uint64_t range) : low_(moved(low)), range_(moved(range)) {}
  static __m256d load(const double* v) { return _mm256_loadu_pd(v); }
  unsigned above(__m256d value, __m256d level) const {
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(value, level, _CMP_GT_OQ)));
  }
  unsigned outside(__m256d value, __m256d level) const {
    const __m256i bits = _mm256_castpd_si256(_mm256_sub_pd(value, level));
    const __m256i distance = _mm256_sub_epi64(_mm256_add_epi64(bits, bits), low_);
    return static_cast<unsigned>(
        _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(distance, range_))));
  }

 private:
  static __m256i moved(std::uint64_t value) {
    return _mm256_set1_epi64x(static_cast<long long>(value + (std::uint64_t{1} << 63)));
  }

  __m256i low_, range_;
};

template <class T>
struct IntegerLanes;
template <>
struct IntegerLanes<std::uint8_t> {
  static constexpr std::size_t kCount = 32;
  static __m256i load(const std::uint8_t* v) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v));
  }
  static unsigned above(const std::uint8_t* v, const std::uint8_t* levels) {
    const __m256i level = load(levels);
    return ~static_cast<unsigned>(
        _mm256_movemask_epi8(_mm256_cmpeq_epi8(_mm256_max_epu8(load(v), level), level)));
  }
  static unsigned same(const std::uint8_t* v, const std::uint8_t* nears) {
    return static_cast<unsigned>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(load(v), load(nears))));
  }
};

#include "stages/contours/cpu/sample_bits_words.inc"

void split(const Deinterleaver& rule, const std::uint64_t* flat, std::uint64_t* by_channel) {
  const int channels = rule.channels();
  for (int k = 0; k < channels; ++k) {
    std::uint64_t word = 0;
    int filled = 0;
    // Sample k, k + channels, ...: the phase within each flat word follows from the one before.
    for (int w = 0, phase = k; w < channels; ++w) {
      const std::uint64_t pattern = rule.pattern(phase);
      if (pattern != 0) {
        word |= _pext_u64(flat[w], pattern) << filled;
        filled += static_cast<int>(_mm_popcnt_u64(pattern));
      }
      phase = (phase - 64 % channels + channels) % channels;
    }
    by_channel[k] = word;
  }
}

}  // namespace

BitKernel avx2_kernel(ElementType type) {
  // uint16 is rare, and the compiler's code for it is good.
  return BitKernels{.u8 = integer_words<std::uint8_t>,
                    .u16 = portable_kernel(ElementType::U16),
                    .f16 = float_words<Half>,
                    .f32 = float_words<float>,
                    .f64 = float_words<double>}
      .of(type);
}

SplitFunction bmi2_split() {
  return split;
}

}  // namespace contorno
#endif
