// Fourier series written differently: the sums that define them, in long double, with the C library's sine
// and cosine, and a sort in place of thresholds.
#pragma once

#include <algorithm>
#include <complex>
#include <numbers>
#include <span>
#include <vector>

#include "geometry/fourier_selection.h"

namespace contorno::test {

using Exact = std::complex<long double>;

/// exp(2 pi i k / n).
inline Exact exact_root(std::uint64_t k, std::uint64_t n) {
  const long double angle =
      2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n);
  return {std::cos(angle), std::sin(angle)};
}

inline Exact exact_coefficient(std::span<const fourier::Complex> points, std::uint64_t k) {
  const std::uint64_t count = points.size();
  Exact sum = 0;
  for (std::uint64_t j = 0; j < count; ++j)
    sum += Exact(points[j].re, points[j].im) * std::conj(exact_root(k * j, count));
  return sum / static_cast<long double>(count);
}

/// The frequency of a coefficient of an FFT of `count`.
inline std::int64_t frequency_of(std::size_t index, std::size_t count) {
  const auto k = static_cast<std::int64_t>(index), n = static_cast<std::int64_t>(count);
  return k < (n + 1) / 2 ? k : k - n;
}

/// The indices of the coefficients that are kept.
inline std::vector<std::size_t> exact_selection(std::span<const fourier::Complex> coefficients,
                                                std::uint64_t terms, KeptTerms keep) {
  struct Ranked {
    long double size;
    std::int64_t frequency;
    std::size_t index;
  };
  std::vector<Ranked> all;
  for (std::size_t i = 0; i < coefficients.size(); ++i) {
    const long double size = std::abs(Exact(coefficients[i].re, coefficients[i].im));
    all.push_back({keep == KeptTerms::Top ? std::floor(size * 1e9L + 0.5L) : 0,
                   frequency_of(i, coefficients.size()), i});
  }
  std::ranges::sort(all, [](const Ranked& a, const Ranked& b) {
    if (a.size != b.size) return a.size > b.size;
    if (std::abs(a.frequency) != std::abs(b.frequency)) return std::abs(a.frequency) < std::abs(b.frequency);
    return a.frequency < b.frequency;
  });
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < std::min<std::size_t>(terms, all.size()); ++i) kept.push_back(all[i].index);
  return kept;
}

inline Exact exact_curve(std::span<const fourier::Complex> coefficients, std::uint64_t terms, KeptTerms keep,
                         double time) {
  Exact sum = 0;
  for (const std::size_t i : exact_selection(coefficients, terms, keep)) {
    const long double turns = static_cast<long double>(frequency_of(i, coefficients.size())) * time;
    const long double angle = 2 * std::numbers::pi_v<long double> * (turns - std::floor(turns));
    sum += Exact(coefficients[i].re, coefficients[i].im) * Exact(std::cos(angle), std::sin(angle));
  }
  return sum;
}

}  // namespace contorno::test
