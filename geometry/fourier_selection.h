// Which Fourier coefficients are kept, for host and device: those of the lowest frequencies, or the largest
// ones. Coefficients have the order of an FFT: 0, 1, ..., -2, -1.
#pragma once

#include <bit>

#include "geometry/fourier_transform.h"

namespace contorno {

/// Which terms of a Fourier series are kept.
enum class KeptTerms : std::uint8_t {
  Low,  ///< those of the lowest frequencies, in the order 0, -1, 1, -2, 2, ...
  Top,  ///< those of the largest magnitudes; of equal ones those that come first in that order
};

}  // namespace contorno

namespace contorno::fourier {

/// The place of a coefficient among `count` in the order of frequencies 0, -1, 1, -2, 2, ...
CONTORNO_HD inline Index rank_of(Index index, Index count) {
  return 2 * index < count ? 2 * index : 2 * (count - index) - 1;
}
/// The way back.
CONTORNO_HD inline Index index_of(Index rank, Index count) {
  return rank % 2 == 0 ? rank / 2 : count - (rank + 1) / 2;
}

/// What the largest coefficients are chosen by: the magnitude as a multiple of 1e-9, so that rounding decides
/// no ties.
CONTORNO_HD inline double importance_of(const Complex& coefficient) {
  return std::floor(magnitude(coefficient) * 1e9 + 0.5);
}

/// Those that are more important than `least`, and of those that are as important the ones of the first
/// ranks. Of the lowest frequencies none is more important than another.
struct Selection {
  double least = 0;
  Index ranks = 0;

  CONTORNO_HD bool keeps(double importance, Index rank) const {
    return importance > least || (importance == least && rank < ranks);
  }
};

/// The `terms` largest of `count` coefficients, 1 <= terms <= count; of equally large ones those of the
/// lowest ranks. importance(index) is that of a coefficient, rank_of its rank. The threshold is found bit by
/// bit.
CONTORNO_FOR_TEAMS
template <class Team, class Importance>
CONTORNO_HD Selection select_top(const Team& team, Index count, Index terms, const Importance& importance) {
  std::uint64_t bits = 0;
  for (std::uint64_t bit = 1ULL << 62; bit > 0; bit /= 2) {
    const auto least = std::bit_cast<double>(bits | bit);  // NaN: none is as important
    if (team.count(count, [=](Index i) { return importance(i) >= least; }) >= terms) bits |= bit;
  }
  const auto least = std::bit_cast<double>(bits);
  const Index left = terms - team.count(count, [=](Index i) { return importance(i) > least; });
  Index last = 0, bit = 1;  // the rank of the last one that is kept
  while (bit < count) bit *= 2;
  for (; bit > 0; bit /= 2) {
    const Index ranks = last | bit;
    if (team.count(count, [=](Index i) { return importance(i) == least && rank_of(i, count) < ranks; }) <
        left)
      last = ranks;
  }
  return {least, last + 1};
}

}  // namespace contorno::fourier
