#include "stages/sample_bits_kernels.h"

#include <bit>
#include <cstring>

#if defined(__x86_64__)
// GCC's own headers start some vectors from an undefined value, and it warns about that.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#define CONTORNO_AVX2 __attribute__((target("avx2,bmi2,f16c,popcnt")))
#define CONTORNO_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,bmi2,f16c,popcnt")))
#endif

namespace contorno {
namespace {

/// The words of the table go round; kernels keep the current one.
std::size_t next_word(std::size_t word, std::size_t words) {
  return word + 1 == words ? 0 : word + 1;
}

// Portable
// ---------------------------------------------------------------------------------------------------

template <class T>
struct FloatOf {
  using Type = float;
  using Bits = std::uint32_t;
};
template <>
struct FloatOf<double> {
  using Type = double;
  using Bits = std::uint64_t;
};

inline float number(Half v) {
  return half_to_float(v);
}
inline float number(float v) {
  return v;
}
inline double number(double v) {
  return v;
}

template <class T>
std::uint64_t float_words(const void* samples, const BitTable& table, std::size_t at, std::size_t words,
                          std::uint64_t* high, std::uint64_t* flags) {
  using F = typename FloatOf<T>::Type;
  using Bits = typename FloatOf<T>::Bits;
  const auto* v = static_cast<const T*>(samples);
  const auto* levels = reinterpret_cast<const F*>(table.levels.data());
  const std::size_t table_words = table.levels.size() / (64 * sizeof(F));
  const auto low = static_cast<Bits>(table.low), range = static_cast<Bits>(table.range);
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      const F value = number(v[64 * w + i]), level = levels[64 * at + i];
      const auto distance = static_cast<Bits>(2 * std::bit_cast<Bits>(value - level));
      above |= static_cast<std::uint64_t>(value > level) << i;
      flag |= static_cast<std::uint64_t>(static_cast<Bits>(distance - low) > range) << i;
    }
    high[w] = above;
    flags[w] = flag;
    any |= flag;
  }
  return any;
}

template <class T>
std::uint64_t integer_words(const void* samples, const BitTable& table, std::size_t at, std::size_t words,
                            std::uint64_t* high, std::uint64_t* flags) {
  const auto* v = static_cast<const T*>(samples);
  const auto* levels = reinterpret_cast<const T*>(table.levels.data());
  const auto* nears = reinterpret_cast<const T*>(table.near_values.data());
  const std::size_t table_words = table.near_possible.size();
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; ++i) {
      above |= static_cast<std::uint64_t>(v[64 * w + i] > levels[64 * at + i]) << i;
      flag |= static_cast<std::uint64_t>(v[64 * w + i] == nears[64 * at + i]) << i;
    }
    high[w] = above;
    flags[w] = flag & table.near_possible[at];
    any |= flags[w];
  }
  return any;
}

void split_portable(const Deinterleaver& rule, const std::uint64_t* flat, std::uint64_t* by_channel) {
  const int channels = rule.channels();
  std::memset(by_channel, 0, static_cast<std::size_t>(channels) * sizeof(std::uint64_t));
  for (int word = 0; word < channels; ++word) {
    for (std::uint64_t bits = flat[word]; bits != 0; bits &= bits - 1) {
      const int sample = 64 * word + std::countr_zero(bits);
      by_channel[sample % channels] |= std::uint64_t{1} << (sample / channels);
    }
  }
}

#if defined(__x86_64__)

// AVX2
// -------------------------------------------------------------------------------------------------------

CONTORNO_AVX2 inline __m256 load8(const float* v) {
  return _mm256_loadu_ps(v);
}
CONTORNO_AVX2 inline __m256 load8(const Half* v) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(v)));
}

template <class T>
CONTORNO_AVX2 std::uint64_t float_words_avx2(const void* samples, const BitTable& table, std::size_t at,
                                             std::size_t words, std::uint64_t* high, std::uint64_t* flags) {
  const auto* v = static_cast<const T*>(samples);
  const auto* levels = reinterpret_cast<const float*>(table.levels.data());
  const std::size_t table_words = table.levels.size() / (64 * sizeof(float));
  // Unsigned "greater" as a signed one: both sides moved by 2^31.
  const __m256i low =
      _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(table.low) + 0x80000000u));
  const __m256i range =
      _mm256_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(table.range) + 0x80000000u));
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __m256 value = load8(v + 64 * w + i), level = _mm256_loadu_ps(levels + 64 * at + i);
      const __m256i bits = _mm256_castps_si256(_mm256_sub_ps(value, level));
      const __m256i distance = _mm256_sub_epi32(_mm256_add_epi32(bits, bits), low);
      const __m256i outside = _mm256_cmpgt_epi32(distance, range);
      above |= static_cast<std::uint64_t>(
                   static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_cmp_ps(value, level, _CMP_GT_OQ))))
               << i;
      flag |= static_cast<std::uint64_t>(
                  static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(outside))))
              << i;
    }
    high[w] = above;
    flags[w] = flag;
    any |= flag;
  }
  return any;
}

CONTORNO_AVX2 std::uint64_t double_words_avx2(const void* samples, const BitTable& table, std::size_t at,
                                              std::size_t words, std::uint64_t* high, std::uint64_t* flags) {
  const auto* v = static_cast<const double*>(samples);
  const auto* levels = reinterpret_cast<const double*>(table.levels.data());
  const std::size_t table_words = table.levels.size() / (64 * sizeof(double));
  constexpr std::uint64_t kMove = std::uint64_t{1} << 63;
  const __m256i low = _mm256_set1_epi64x(static_cast<long long>(table.low + kMove));
  const __m256i range = _mm256_set1_epi64x(static_cast<long long>(table.range + kMove));
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 4) {
      const __m256d value = _mm256_loadu_pd(v + 64 * w + i), level = _mm256_loadu_pd(levels + 64 * at + i);
      const __m256i bits = _mm256_castpd_si256(_mm256_sub_pd(value, level));
      const __m256i outside = _mm256_cmpgt_epi64(_mm256_sub_epi64(_mm256_add_epi64(bits, bits), low), range);
      above |= static_cast<std::uint64_t>(
                   static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_cmp_pd(value, level, _CMP_GT_OQ))))
               << i;
      flag |= static_cast<std::uint64_t>(
                  static_cast<std::uint32_t>(_mm256_movemask_pd(_mm256_castsi256_pd(outside))))
              << i;
    }
    high[w] = above;
    flags[w] = flag;
    any |= flag;
  }
  return any;
}

CONTORNO_AVX2 inline __m256i load32(const std::uint8_t* v) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(v));
}

CONTORNO_AVX2 std::uint64_t byte_words_avx2(const void* samples, const BitTable& table, std::size_t at,
                                            std::size_t words, std::uint64_t* high, std::uint64_t* flags) {
  const auto* v = static_cast<const std::uint8_t*>(samples);
  const auto* levels = reinterpret_cast<const std::uint8_t*>(table.levels.data());
  const auto* nears = reinterpret_cast<const std::uint8_t*>(table.near_values.data());
  const std::size_t table_words = table.near_possible.size();
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t not_above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 32) {
      const __m256i value = load32(v + 64 * w + i), level = load32(levels + 64 * at + i);
      const __m256i low = _mm256_cmpeq_epi8(_mm256_max_epu8(value, level), level);
      not_above |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(low))) << i;
      const __m256i same = _mm256_cmpeq_epi8(value, load32(nears + 64 * at + i));
      flag |= static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(same))) << i;
    }
    high[w] = ~not_above;
    flags[w] = flag & table.near_possible[at];
    any |= flags[w];
  }
  return any;
}

CONTORNO_AVX2 void split_bmi2(const Deinterleaver& rule, const std::uint64_t* flat,
                              std::uint64_t* by_channel) {
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

// AVX-512
// ----------------------------------------------------------------------------------------------------

CONTORNO_AVX512 inline __m512 load16(const float* v) {
  return _mm512_loadu_ps(v);
}
CONTORNO_AVX512 inline __m512 load16(const Half* v) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(v)));
}

template <class T>
CONTORNO_AVX512 std::uint64_t float_words_avx512(const void* samples, const BitTable& table, std::size_t at,
                                                 std::size_t words, std::uint64_t* high,
                                                 std::uint64_t* flags) {
  const auto* v = static_cast<const T*>(samples);
  const auto* levels = reinterpret_cast<const float*>(table.levels.data());
  const std::size_t table_words = table.levels.size() / (64 * sizeof(float));
  const __m512i low = _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(table.low)));
  const __m512i range = _mm512_set1_epi32(static_cast<int>(static_cast<std::uint32_t>(table.range)));
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 16) {
      const __m512 value = load16(v + 64 * w + i), level = _mm512_loadu_ps(levels + 64 * at + i);
      const __m512i bits = _mm512_castps_si512(_mm512_sub_ps(value, level));
      const __m512i distance = _mm512_sub_epi32(_mm512_add_epi32(bits, bits), low);
      above |= static_cast<std::uint64_t>(_mm512_cmp_ps_mask(value, level, _CMP_GT_OQ)) << i;
      flag |= static_cast<std::uint64_t>(_mm512_cmpgt_epu32_mask(distance, range)) << i;
    }
    high[w] = above;
    flags[w] = flag;
    any |= flag;
  }
  return any;
}

CONTORNO_AVX512 std::uint64_t double_words_avx512(const void* samples, const BitTable& table, std::size_t at,
                                                  std::size_t words, std::uint64_t* high,
                                                  std::uint64_t* flags) {
  const auto* v = static_cast<const double*>(samples);
  const auto* levels = reinterpret_cast<const double*>(table.levels.data());
  const std::size_t table_words = table.levels.size() / (64 * sizeof(double));
  const __m512i low = _mm512_set1_epi64(static_cast<long long>(table.low));
  const __m512i range = _mm512_set1_epi64(static_cast<long long>(table.range));
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 8) {
      const __m512d value = _mm512_loadu_pd(v + 64 * w + i), level = _mm512_loadu_pd(levels + 64 * at + i);
      const __m512i bits = _mm512_castpd_si512(_mm512_sub_pd(value, level));
      const __m512i distance = _mm512_sub_epi64(_mm512_add_epi64(bits, bits), low);
      above |= static_cast<std::uint64_t>(_mm512_cmp_pd_mask(value, level, _CMP_GT_OQ)) << i;
      flag |= static_cast<std::uint64_t>(_mm512_cmpgt_epu64_mask(distance, range)) << i;
    }
    high[w] = above;
    flags[w] = flag;
    any |= flag;
  }
  return any;
}

CONTORNO_AVX512 std::uint64_t byte_words_avx512(const void* samples, const BitTable& table, std::size_t at,
                                                std::size_t words, std::uint64_t* high,
                                                std::uint64_t* flags) {
  const auto* v = static_cast<const std::uint8_t*>(samples);
  const auto* levels = reinterpret_cast<const std::uint8_t*>(table.levels.data());
  const auto* nears = reinterpret_cast<const std::uint8_t*>(table.near_values.data());
  const std::size_t table_words = table.near_possible.size();
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    const __m512i value = _mm512_loadu_si512(v + 64 * w);
    high[w] = _mm512_cmpgt_epu8_mask(value, _mm512_loadu_si512(levels + 64 * at));
    flags[w] = _mm512_cmpeq_epu8_mask(value, _mm512_loadu_si512(nears + 64 * at)) & table.near_possible[at];
    any |= flags[w];
  }
  return any;
}

CONTORNO_AVX512 std::uint64_t short_words_avx512(const void* samples, const BitTable& table, std::size_t at,
                                                 std::size_t words, std::uint64_t* high,
                                                 std::uint64_t* flags) {
  const auto* v = static_cast<const std::uint16_t*>(samples);
  const auto* levels = reinterpret_cast<const std::uint16_t*>(table.levels.data());
  const auto* nears = reinterpret_cast<const std::uint16_t*>(table.near_values.data());
  const std::size_t table_words = table.near_possible.size();
  std::uint64_t any = 0;
  for (std::size_t w = 0; w < words; ++w, at = next_word(at, table_words)) {
    std::uint64_t above = 0, flag = 0;
    for (std::size_t i = 0; i < 64; i += 32) {
      const __m512i value = _mm512_loadu_si512(v + 64 * w + i);
      above |=
          static_cast<std::uint64_t>(_mm512_cmpgt_epu16_mask(value, _mm512_loadu_si512(levels + 64 * at + i)))
          << i;
      flag |=
          static_cast<std::uint64_t>(_mm512_cmpeq_epu16_mask(value, _mm512_loadu_si512(nears + 64 * at + i)))
          << i;
    }
    high[w] = above;
    flags[w] = flag & table.near_possible[at];
    any |= flags[w];
  }
  return any;
}

/// Each byte is a pixel; its bit k becomes a bit of word k.
CONTORNO_AVX512 void split_of_8(const Deinterleaver&, const std::uint64_t* flat, std::uint64_t* by_channel) {
  const __m512i pixels = _mm512_loadu_si512(flat);
  for (unsigned k = 0; k < 8; ++k) by_channel[k] = _mm512_movepi8_mask(_mm512_slli_epi64(pixels, 7 - k));
}

#endif

}  // namespace

BitKernel portable_kernel(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return integer_words<std::uint8_t>;
    case ElementType::U16:
      return integer_words<std::uint16_t>;
    case ElementType::F16:
      return float_words<Half>;
    case ElementType::F32:
      return float_words<float>;
    case ElementType::F64:
      break;
  }
  return float_words<double>;
}

SplitFunction portable_split() {
  return split_portable;
}

#if defined(__x86_64__)

BitKernel avx2_kernel(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return byte_words_avx2;
    case ElementType::U16:
      return portable_kernel(type);  // rare, and the compiler's code for it is good
    case ElementType::F16:
      return float_words_avx2<Half>;
    case ElementType::F32:
      return float_words_avx2<float>;
    case ElementType::F64:
      break;
  }
  return double_words_avx2;
}

BitKernel avx512_kernel(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return byte_words_avx512;
    case ElementType::U16:
      return short_words_avx512;
    case ElementType::F16:
      return float_words_avx512<Half>;
    case ElementType::F32:
      return float_words_avx512<float>;
    case ElementType::F64:
      break;
  }
  return double_words_avx512;
}

SplitFunction bmi2_split() {
  return split_bmi2;
}
SplitFunction avx512_split_of_8() {
  return split_of_8;
}

#else

BitKernel avx2_kernel(ElementType type) {
  return portable_kernel(type);
}
BitKernel avx512_kernel(ElementType type) {
  return portable_kernel(type);
}
SplitFunction bmi2_split() {
  return split_portable;
}
SplitFunction avx512_split_of_8() {
  return split_portable;
}

#endif

}  // namespace contorno
