// The arithmetic of a cell in Diamond-Square, for both backends: its height from its neighbours' heights and
// a random word.
#pragma once

#include <cstdint>

#include "stages/diamond_square/field.h"
#include "stages/shared/philox.h"

namespace contorno {

/// The constants of heights of type T. Noise is the type of the random number that is added; it has room for
/// the sum of that number and four heights.
template <class T>
struct Heights;

template <>
struct Heights<std::uint8_t> {
  using Noise = std::int16_t;
  static constexpr std::int32_t kMax = 255;
  static constexpr unsigned kCornerShift = 24;
};
template <>
struct Heights<std::uint16_t> {
  using Noise = std::int32_t;
  static constexpr std::int32_t kMax = 65535;
  static constexpr unsigned kCornerShift = 16;
};
template <>
struct Heights<float> {
  using Noise = float;
};

inline constexpr float kUnitStep = 0x1p-24F;  ///< 24 random bits to 0..1

template <class T>
CONTORNO_HD inline T corner_height(std::uint32_t word) {
  return static_cast<T>(word >> Heights<T>::kCornerShift);
}
template <>
CONTORNO_HD inline float corner_height<float>(std::uint32_t word) {
  return static_cast<float>(word >> 8) * kUnitStep;
}

template <class T>
CONTORNO_HD inline typename Heights<T>::Noise noise_of(std::uint32_t word, const HeightRule& rule) {
  return static_cast<typename Heights<T>::Noise>(rule.low +
                                                 static_cast<std::int32_t>(philox_high(word, rule.span)));
}
template <>
CONTORNO_HD inline float noise_of<float>(std::uint32_t word, const HeightRule& rule) {
  return static_cast<float>(word >> 8) * kUnitStep * rule.float_span + rule.float_low;
}

// The height of a cell from its neighbours, added as (first + second) + (third + fourth). A diamond has the
// neighbours top left, top right, bottom left, bottom right; a square has up, down, left, right. With three
// neighbours the missing one is 0. Negative sums give height 0, so their rounding does not matter.

/// The sum of kCount neighbours, noise and rounding, limited to the range that gives heights from 0 to the
/// largest. It is limited before the division, since a device does that in the addition.
template <class T, int kCount, class N>
CONTORNO_HD inline N sum_of(T a, T b, T c, T d, N noise, N round) {
  constexpr N kMost = static_cast<N>(kCount * Heights<T>::kMax + kCount - 1);
  const N sum = static_cast<N>(a + b + c + d + noise + round), low = sum < kMost ? sum : kMost;
  return low > 0 ? low : N{0};
}
template <class T, class N>
CONTORNO_HD inline T height_of_four(T a, T b, T c, T d, N noise, N round) {
  return static_cast<T>(sum_of<T, 4>(a, b, c, d, noise, round) >> 2);
}
template <class T, class N>
CONTORNO_HD inline T height_of_three(T a, T b, T c, T d, N noise, N round) {
  return static_cast<T>(sum_of<T, 3>(a, b, c, d, noise, round) / 3);
}
CONTORNO_HD inline float unit_height(float v) {
  return v < 0.0F ? 0.0F : v > 1.0F ? 1.0F : v;
}
template <>
CONTORNO_HD inline float height_of_four(float a, float b, float c, float d, float noise, float) {
  return unit_height((((a + b) + (c + d)) + noise) * 0.25F);
}
template <>
CONTORNO_HD inline float height_of_three(float a, float b, float c, float d, float noise, float) {
  return unit_height((((a + b) + (c + d)) + noise) / 3.0F);
}

/// The first and the last row (or column) of a grid, in cells of the field; multiples of the grid's step.
struct CellSpan {
  std::int64_t first = 0, last = 0;
  CONTORNO_HD int count(std::int64_t step) const { return static_cast<int>((last - first) / step) + 1; }
};

/// The rows (or columns) 2 * `half` apart that are needed to compute the rows `span`, which are `half` apart.
/// `side` is the last row of a finite field, and negative for other fields.
CONTORNO_HD inline CellSpan coarser_span(CellSpan span, std::int64_t half, std::int64_t side) {
  const std::int64_t step = 2 * half;
  const auto down = [step](std::int64_t v) { return v & ~(step - 1); };
  CellSpan coarser{down(span.first - half), down(span.last + half + step - 1)};
  if (side >= 0) {
    if (coarser.first < 0) coarser.first = 0;
    if (coarser.last > side) coarser.last = side;
  }
  return coarser;
}

}  // namespace contorno
