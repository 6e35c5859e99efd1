#include "stages/diamond_square/level.h"

#include <algorithm>
#include <cstring>

#include "stages/shared/intrinsics.h"
#include "stages/shared/simd.h"

namespace contorno {
namespace {

/// The cells of one row that one level fills: `count` of them, `step` apart.
struct NoiseRow {
  PhiloxRow random;
  std::uint32_t col = 0, step = 1, mask = ~0U;
  int count = 0;
};

struct PortableNoise {
  template <class T>
  static void fill(const NoiseRow& row, const HeightRule& rule, typename Heights<T>::Noise* out) {
    for (int i = 0; i < row.count; ++i)
      out[i] = noise_of<T>(row.random((row.col + static_cast<std::uint32_t>(i) * row.step) & row.mask), rule);
  }
};

#if defined(__x86_64__)

// A counter sits in the low half of each 64-bit lane, where vpmuludq reads it and leaves both halves of the
// product; what gathers in the high halves is never looked at.

struct Avx512Noise {
  CONTORNO_AVX512 static __m512i times(__m512i v, std::uint32_t factor) {
    return _mm512_mul_epu32(v, _mm512_set1_epi64(factor));
  }
  CONTORNO_AVX512 static __m512i high(__m512i v) { return _mm512_srli_epi64(v, 32); }
  CONTORNO_AVX512 static __m512i mixed(__m512i a, __m512i b, std::uint32_t key) {
    return _mm512_ternarylogic_epi64(a, b, _mm512_set1_epi64(key), 0x96);
  }
  CONTORNO_AVX512 static __m512i words(const PhiloxRow& row, __m512i x) {
    const __m512i c = _mm512_xor_si512(x, _mm512_set1_epi64(row.x0));
    const __m512i p = times(c, kPhiloxM0);
    const __m512i d = _mm512_xor_si512(high(p), _mm512_set1_epi64(row.high1));
    __m512i c1 = times(d, kPhiloxM1);
    __m512i c0 = _mm512_xor_si512(high(c1), _mm512_set1_epi64(row.low2));
    __m512i c2 = _mm512_xor_si512(p, _mm512_set1_epi64(row.high2));
    __m512i c3 = _mm512_set1_epi64(row.last2);
#pragma GCC unroll 6
    for (std::uint32_t round = 3; round < kPhiloxRounds - 1; ++round) {
      const __m512i p1 = times(c2, kPhiloxM1), p0 = times(c0, kPhiloxM0);
      c0 = mixed(high(p1), c1, row.key.low + round * kPhiloxW0);
      c2 = mixed(high(p0), c3, row.key.high + round * kPhiloxW1);
      c1 = p1, c3 = p0;
    }
    return mixed(high(times(c2, kPhiloxM1)), c1, row.key.low + (kPhiloxRounds - 1) * kPhiloxW0);
  }
  CONTORNO_AVX512 static void store(__m512i word, const HeightRule& rule, std::int16_t* out) {
    const __m512i noise = _mm512_add_epi64(high(times(word, rule.span)), _mm512_set1_epi64(rule.low));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi64_epi16(noise));
  }
  CONTORNO_AVX512 static void store(__m512i word, const HeightRule& rule, std::int32_t* out) {
    const __m512i noise = _mm512_add_epi64(high(times(word, rule.span)), _mm512_set1_epi64(rule.low));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi64_epi32(noise));
  }
  CONTORNO_AVX512 static void store(__m512i word, const HeightRule& rule, float* out) {
    const __m256 unit = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(_mm512_cvtepi64_epi32(word), 8)),
                                      _mm256_set1_ps(kUnitStep));
    _mm256_storeu_ps(out, _mm256_add_ps(_mm256_mul_ps(unit, _mm256_set1_ps(rule.float_span)),
                                        _mm256_set1_ps(rule.float_low)));
  }
  template <class T>
  CONTORNO_AVX512 static void fill(const NoiseRow row, const HeightRule rule,
                                   typename Heights<T>::Noise* out) {
    const auto step = static_cast<long long>(row.step);
    __m512i col = _mm512_add_epi64(
        _mm512_set1_epi64(row.col),
        _mm512_set_epi64(7 * step, 6 * step, 5 * step, 4 * step, 3 * step, 2 * step, step, 0));
    const __m512i mask = _mm512_set1_epi64(row.mask), stride = _mm512_set1_epi64(8 * step);
    for (int i = 0; i < row.count; i += 8, col = _mm512_add_epi64(col, stride))
      store(words(row.random, _mm512_and_si512(col, mask)), rule, out + i);
  }
};

struct Avx2Noise {
  CONTORNO_AVX2 static __m256i times(__m256i v, std::uint32_t factor) {
    return _mm256_mul_epu32(v, _mm256_set1_epi64x(factor));
  }
  CONTORNO_AVX2 static __m256i high(__m256i v) { return _mm256_srli_epi64(v, 32); }
  CONTORNO_AVX2 static __m256i mixed(__m256i a, __m256i b, std::uint32_t key) {
    return _mm256_xor_si256(_mm256_xor_si256(a, b), _mm256_set1_epi64x(key));
  }
  CONTORNO_AVX2 static __m256i words(const PhiloxRow& row, __m256i x) {
    const __m256i c = _mm256_xor_si256(x, _mm256_set1_epi64x(row.x0));
    const __m256i p = times(c, kPhiloxM0);
    const __m256i d = _mm256_xor_si256(high(p), _mm256_set1_epi64x(row.high1));
    __m256i c1 = times(d, kPhiloxM1);
    __m256i c0 = _mm256_xor_si256(high(c1), _mm256_set1_epi64x(row.low2));
    __m256i c2 = _mm256_xor_si256(p, _mm256_set1_epi64x(row.high2));
    __m256i c3 = _mm256_set1_epi64x(row.last2);
#pragma GCC unroll 6
    for (std::uint32_t round = 3; round < kPhiloxRounds - 1; ++round) {
      const __m256i p1 = times(c2, kPhiloxM1), p0 = times(c0, kPhiloxM0);
      c0 = mixed(high(p1), c1, row.key.low + round * kPhiloxW0);
      c2 = mixed(high(p0), c3, row.key.high + round * kPhiloxW1);
      c1 = p1, c3 = p0;
    }
    return mixed(high(times(c2, kPhiloxM1)), c1, row.key.low + (kPhiloxRounds - 1) * kPhiloxW0);
  }
  /// The low halves of the lanes of two vectors, in order.
  CONTORNO_AVX2 static __m256i joined(__m256i a, __m256i b) {
    const __m256 both = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(both), 0xD8);
  }
  CONTORNO_AVX2 static __m256i integers(__m256i a, __m256i b, const HeightRule& rule) {
    return _mm256_add_epi32(joined(high(times(a, rule.span)), high(times(b, rule.span))),
                            _mm256_set1_epi32(rule.low));
  }
  CONTORNO_AVX2 static void store(__m256i a, __m256i b, const HeightRule& rule, std::int16_t* out) {
    const __m256i noise = integers(a, b, rule);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out),
                     _mm_packs_epi32(_mm256_castsi256_si128(noise), _mm256_extracti128_si256(noise, 1)));
  }
  CONTORNO_AVX2 static void store(__m256i a, __m256i b, const HeightRule& rule, std::int32_t* out) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), integers(a, b, rule));
  }
  CONTORNO_AVX2 static void store(__m256i a, __m256i b, const HeightRule& rule, float* out) {
    const __m256 unit =
        _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_srli_epi32(joined(a, b), 8)), _mm256_set1_ps(kUnitStep));
    _mm256_storeu_ps(out, _mm256_add_ps(_mm256_mul_ps(unit, _mm256_set1_ps(rule.float_span)),
                                        _mm256_set1_ps(rule.float_low)));
  }
  template <class T>
  CONTORNO_AVX2 static void fill(const NoiseRow row, const HeightRule rule, typename Heights<T>::Noise* out) {
    const auto step = static_cast<long long>(row.step);
    __m256i col =
        _mm256_add_epi64(_mm256_set1_epi64x(row.col), _mm256_set_epi64x(3 * step, 2 * step, step, 0));
    const __m256i mask = _mm256_set1_epi64x(row.mask), half = _mm256_set1_epi64x(4 * step),
                  stride = _mm256_set1_epi64x(8 * step);
    for (int i = 0; i < row.count; i += 8, col = _mm256_add_epi64(col, stride))
      store(words(row.random, _mm256_and_si256(col, mask)),
            words(row.random, _mm256_and_si256(_mm256_add_epi64(col, half), mask)), rule, out + i);
  }
};

#endif

/// Row by row of the finer grid; rows of diamonds are worked out once and kept for the row of squares above
/// and the one below them.
template <class T, class Noise>
class Refiner {
 public:
  CONTORNO_BODY static void run(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                                const CellGrid<T>& fine, const RefineRows<T>& rows) {
    const std::int64_t half = rule.half;
    const auto first = static_cast<int>((fine.row - coarse.row) / half);
    const auto skipped = static_cast<int>((fine.col - coarse.col) / half);
    int known = std::max(0, (first - 1) / 2);  // rows of diamonds before this one are not needed or there
    for (int r = 0; r < fine.rows; ++r) {
      const int place = first + r, k = place / 2;
      for (; known <= k && known + 1 < coarse.rows; ++known) diamond_row(field, rule, coarse, rows, known);
      if (place % 2 == 0)
        even_row(field, rule, coarse, rows, k);
      else
        odd_row(field, rule, coarse, rows, k);
      std::memcpy(fine.at(r), rows.line + skipped, static_cast<std::size_t>(fine.cols) * sizeof(T));
    }
  }

 private:
  using N = typename Heights<T>::Noise;

  CONTORNO_BODY static void noise_row(const FieldRule& field, const HeightRule& rule, std::int64_t row,
                                      std::int64_t col, int count, N* out) {
    const NoiseRow cells{
        PhiloxRow(field.key, static_cast<std::uint32_t>(row) & field.mask, rule.level, field.channel),
        static_cast<std::uint32_t>(col), static_cast<std::uint32_t>(2 * rule.half), field.mask, count};
    Noise::template fill<T>(cells, rule, out);
  }

  CONTORNO_BODY static void diamond_row(const FieldRule& field, const HeightRule& rule,
                                        const CellGrid<T>& coarse, const RefineRows<T>& rows, int k) {
    const int count = coarse.cols - 1;
    noise_row(field, rule, coarse.row + k * coarse.step + rule.half, coarse.col + rule.half, count,
              rows.noise);
    const T* above = coarse.at(k);
    const T* below = coarse.at(k + 1);
    const N* noise = rows.noise;
    T* out = rows.diamonds[k & 1];
    const auto round = static_cast<N>(rule.round4);
    for (int i = 0; i < count; ++i)
      out[i] = height_of_four<T, N>(above[i], above[i + 1], below[i], below[i + 1], noise[i], round);
  }

  /// Old cells, and squares between them. The first and last row of a finite field have no diamonds on one
  /// side.
  CONTORNO_BODY static void even_row(const FieldRule& field, const HeightRule& rule,
                                     const CellGrid<T>& coarse, const RefineRows<T>& rows, int k) {
    const std::int64_t row = coarse.row + k * coarse.step;
    const int count = coarse.cols - 1;
    noise_row(field, rule, row, coarse.col + rule.half, count, rows.noise);
    const bool top = row == 0 && field.side >= 0, bottom = row == field.side;
    const T* old = coarse.at(k);
    const T* up = top || k == 0 ? rows.zeros : rows.diamonds[(k - 1) & 1];
    const T* down = bottom || k + 1 == coarse.rows ? rows.zeros : rows.diamonds[k & 1];
    const N* noise = rows.noise;
    T* line = rows.line;
    if (top || bottom) {
      const auto round = static_cast<N>(rule.round3);
      for (int i = 0; i < count; ++i) {
        line[2 * i] = old[i];
        line[2 * i + 1] = height_of_three<T, N>(up[i], down[i], old[i], old[i + 1], noise[i], round);
      }
    } else {
      const auto round = static_cast<N>(rule.round4);
      for (int i = 0; i < count; ++i) {
        line[2 * i] = old[i];
        line[2 * i + 1] = height_of_four<T, N>(up[i], down[i], old[i], old[i + 1], noise[i], round);
      }
    }
    line[2 * count] = old[count];
  }

  /// Squares between old cells, and diamonds. The first and last square are needed at the border of a finite
  /// field only.
  CONTORNO_BODY static void odd_row(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                                    const RefineRows<T>& rows, int k) {
    const int count = coarse.cols;
    noise_row(field, rule, coarse.row + k * coarse.step + rule.half, coarse.col, count, rows.noise);
    const T* above = coarse.at(k);
    const T* below = coarse.at(k + 1);
    const T* diamonds = rows.diamonds[k & 1];
    const N* noise = rows.noise;
    T* line = rows.line;
    const auto round3 = static_cast<N>(rule.round3), round4 = static_cast<N>(rule.round4);
    const T none{};
    line[0] = height_of_three<T, N>(above[0], below[0], none, diamonds[0], noise[0], round3);
    line[1] = diamonds[0];
    for (int i = 1; i < count - 1; ++i) {
      line[2 * i] = height_of_four<T, N>(above[i], below[i], diamonds[i - 1], diamonds[i], noise[i], round4);
      line[2 * i + 1] = diamonds[i];
    }
    const int end = count - 1;
    line[2 * end] =
        height_of_three<T, N>(above[end], below[end], diamonds[end - 1], none, noise[end], round3);
  }
};

template <class T>
void refine_portable(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                     const CellGrid<T>& fine, const RefineRows<T>& rows) {
  Refiner<T, PortableNoise>::run(field, rule, coarse, fine, rows);
}
#if defined(__x86_64__)
template <class T>
CONTORNO_AVX2 void refine_avx2(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                               const CellGrid<T>& fine, const RefineRows<T>& rows) {
  Refiner<T, Avx2Noise>::run(field, rule, coarse, fine, rows);
}
template <class T>
CONTORNO_AVX512 void refine_avx512(const FieldRule& field, const HeightRule& rule, const CellGrid<T>& coarse,
                                   const CellGrid<T>& fine, const RefineRows<T>& rows) {
  Refiner<T, Avx512Noise>::run(field, rule, coarse, fine, rows);
}
#endif

}  // namespace

template <class T>
Refine<T> refine_kernel(Simd simd) {
  switch (simd) {
#if defined(__x86_64__)
    case Simd::Avx512:
      return refine_avx512<T>;
    case Simd::Avx2:
      return refine_avx2<T>;
#else
    case Simd::Avx512:
    case Simd::Avx2:
#endif
    case Simd::Portable:
      break;
  }
  return refine_portable<T>;
}

template Refine<std::uint8_t> refine_kernel(Simd);
template Refine<std::uint16_t> refine_kernel(Simd);
template Refine<float> refine_kernel(Simd);

}  // namespace contorno
