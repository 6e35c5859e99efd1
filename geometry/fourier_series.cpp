#include "geometry/fourier_series.h"

#include <algorithm>
#include <bit>

#include "pipeline/shared/loops.h"

namespace contorno::fourier {
namespace {

/// A coefficient that is kept, with its frequency, of which only products modulo 2^64 are used.
struct KeptTerm {
  Complex coefficient;
  std::uint64_t frequency;
};

std::vector<KeptTerm> kept_of(std::span<const Complex> coefficients, Index terms, KeptTerms keep) {
  const Index count = coefficients.size();
  const auto importance = [&](Index i) {
    return keep == KeptTerms::Top ? importance_of(coefficients[i]) : 0;
  };
  Selection selection{0, terms};
  if (keep == KeptTerms::Top && terms < count) selection = select_top(OneThread{}, count, terms, importance);
  std::vector<KeptTerm> kept;
  for (Index rank = 0; rank < count; ++rank) {
    const Index index = index_of(rank, count);
    if (terms >= count || selection.keeps(importance(index), rank))
      kept.push_back({coefficients[index], 2 * index < count ? index : index - count});
  }
  return kept;
}

/// A time in units of 2^-64 of a turn, in which whole turns are nothing. What is below a unit is left out.
std::uint64_t turn_of(double time) {
  const double part = time - std::floor(time);  // may be 1 of a time just below 0
  return part < 1 ? static_cast<std::uint64_t>(part * 18446744073709551616.0) : 0;
}

}  // namespace

std::vector<Complex> transform_roots(Index count) {
  // Half of the largest transform_size of these counts, which need not be that of the last one.
  std::vector<Complex> roots(std::bit_ceil(2 * std::max<Index>(count, 1) - 1) / 2);
  for (Index j = 0; j < roots.size(); ++j) roots[j] = root_of_block(j);
  return roots;
}

std::vector<Complex> coefficients_of(std::span<const Complex> points) {
  const Index count = points.size();
  if (count == 0) return {};
  std::vector<Complex> memory(Transform::memory(count));
  const std::vector<Complex> roots = transform_roots(count);
  const Transform transform(count, memory.data(), roots.data());
  transform.prepare(OneThread{});
  std::copy(points.begin(), points.end(), transform.data());
  transform.run(OneThread{});
  const double scale = 1 / static_cast<double>(count);
  std::vector<Complex> coefficients(count);
  for (Index k = 0; k < count; ++k) coefficients[k] = scale * transform.data()[k];
  return coefficients;
}

std::vector<Complex> curve_of(std::span<const Complex> coefficients, Index terms, KeptTerms keep,
                              std::span<const double> times, int threads) {
  const std::vector<KeptTerm> kept = kept_of(coefficients, terms, keep);
  std::vector<Complex> curve(times.size());
  constexpr std::size_t kEach = 64;  // times a task
  for_tasks(threads, static_cast<int>((times.size() + kEach - 1) / kEach), [&](int task) {
    const std::size_t first = static_cast<std::size_t>(task) * kEach;
    for (std::size_t i = first; i < std::min(first + kEach, times.size()); ++i) {
      const std::uint64_t turn = turn_of(times[i]);
      Complex sum;
      // The phase wraps around with the integers, without rounding.
      for (const KeptTerm& one : kept) sum = sum + one.coefficient * root_of_turn(one.frequency * turn);
      curve[i] = sum;
    }
  });
  return curve;
}

}  // namespace contorno::fourier
