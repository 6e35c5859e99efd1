#include <bit>

#include "stages/contour_prep/simplify/farthest.h"
#include "stages/shared/intrinsics.h"

#if defined(__x86_64__)
#pragma GCC target("avx2")

namespace contorno {
namespace {

/// A chord in every lane.
struct Lanes {
  __m256d a_row, a_col, b_row, b_col, rows, cols, length, scale;

  explicit Lanes(const Chord& chord)
      : a_row(_mm256_set1_pd(chord.a_row)),
        a_col(_mm256_set1_pd(chord.a_col)),
        b_row(_mm256_set1_pd(chord.b_row)),
        b_col(_mm256_set1_pd(chord.b_col)),
        rows(_mm256_set1_pd(chord.rows)),
        cols(_mm256_set1_pd(chord.cols)),
        length(_mm256_set1_pd(chord.length)),
        scale(_mm256_set1_pd(chord.scale)) {}

  /// The scaled distances of the points 0, 2, 1 and 3 from `from` on.
  __m256d operator()(const Point* from) const {
    const __m256d front = _mm256_cvtps_pd(_mm_loadu_ps(&from[0].row));
    const __m256d back = _mm256_cvtps_pd(_mm_loadu_ps(&from[2].row));
    const __m256d p_row = _mm256_unpacklo_pd(front, back), p_col = _mm256_unpackhi_pd(front, back);
    const __m256d row = _mm256_sub_pd(p_row, a_row), col = _mm256_sub_pd(p_col, a_col);
    const __m256d along = _mm256_add_pd(_mm256_mul_pd(row, rows), _mm256_mul_pd(col, cols));
    const __m256d across = _mm256_sub_pd(_mm256_mul_pd(row, cols), _mm256_mul_pd(col, rows));
    const __m256d before = _mm256_cmp_pd(along, _mm256_setzero_pd(), _CMP_LE_OQ);
    const __m256d behind = _mm256_cmp_pd(along, length, _CMP_GE_OQ);
    const __m256d beside = _mm256_mul_pd(across, across);
    const __m256d outside = _mm256_or_pd(before, behind);
    if (_mm256_movemask_pd(outside) == 0) return beside;
    const __m256d end_row = _mm256_blendv_pd(_mm256_sub_pd(p_row, b_row), row, before);
    const __m256d end_col = _mm256_blendv_pd(_mm256_sub_pd(p_col, b_col), col, before);
    const __m256d squares = _mm256_add_pd(_mm256_mul_pd(end_row, end_row), _mm256_mul_pd(end_col, end_col));
    return _mm256_blendv_pd(beside, _mm256_mul_pd(squares, scale), outside);
  }
};

/// The first point with this distance, which one of the points has; there are four at least.
std::uint32_t first_with(double distance, const Point* points, std::uint32_t begin, std::uint32_t end,
                         const Lanes& lanes) {
  for (std::uint32_t i = begin + 1;; i += 4) {
    if (i + 4 > end) i = end - 4;
    const __m256d equal = _mm256_cmp_pd(lanes(points + i), _mm256_set1_pd(distance), _CMP_EQ_OQ);
    const auto lane_bits = static_cast<unsigned>(_mm256_movemask_pd(equal));
    if (lane_bits == 0) continue;
    // Lanes 1 and 2 are those of the points 2 and 1.
    const unsigned bits = (lane_bits & 9U) | (lane_bits & 2U) << 1 | (lane_bits & 4U) >> 1;
    return i + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
}

Farthest avx2(const Point* points, std::uint32_t begin, std::uint32_t end, const Chord& chord, double least) {
  Farthest found{0, begin + 1};
  std::uint32_t i = begin + 1;
  if (end - i < 4) return farthest_of(points, begin, end, chord, i, 1);
  const Lanes lanes(chord);
  // A distance that is NaN leaves what is there.
  __m256d greatest = _mm256_setzero_pd();
  for (; i + 4 < end; i += 4) greatest = _mm256_max_pd(lanes(points + i), greatest);
  // The last four again.
  greatest = _mm256_max_pd(lanes(points + end - 4), greatest);
  const __m128d two = _mm_max_pd(_mm256_castpd256_pd128(greatest), _mm256_extractf128_pd(greatest, 1));
  found.distance = _mm_cvtsd_f64(_mm_max_sd(two, _mm_unpackhi_pd(two, two)));
  if (found.distance > 0 && found.distance > least)
    found.at = first_with(found.distance, points, begin, end, lanes);
  return found;
}

}  // namespace

FarthestBetween farthest_between_avx2() {
  return avx2;
}

}  // namespace contorno
#endif
