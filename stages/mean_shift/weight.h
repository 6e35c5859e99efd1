// The weights of mean shift, for host and device and for one value or a vector of them: only + - * on T and
// integer operations on its bits, in one order, so that every backend and every vector width gives the same
// bits. No function of libm takes part.
#pragma once

#include <cstdint>

#include "base/host_device.h"
#include "stages/mean_shift/rule.h"

namespace contorno {

/// Constants of 2^t for kLeast <= t <= 0, with a relative error below 1e-7 (float) and 1e-15 (double). Below
/// kLeast the result means nothing.
template <class T>
struct Exp2;

template <>
struct Exp2<float> {
  using Bits = std::uint32_t;
  static constexpr float kLeast = -125.0F;
  static constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to a whole number
  static constexpr int kMantissa = 23;
  /// Minimax polynomial of (2^f - 1) / f on [-1/2, 1/2].
  template <class V>
  CONTORNO_HD static V quotient(const V& f) {
    return 0.6931469776F +
           f * (0.2402224208F + f * (0.0555073374F + f * (0.0096715127F + f * 0.0013264727F)));
  }
};

template <>
struct Exp2<double> {
  using Bits = std::uint64_t;
  static constexpr double kLeast = -1000.0;
  static constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52
  static constexpr int kMantissa = 52;
  /// Taylor's polynomial: ln(2)^k / k!.
  template <class V>
  CONTORNO_HD static V quotient(const V& f) {
    const V high = 4.4455382718708116e-10 + f * (2.567843599348820e-11 + f * 1.369148885390413e-12);
    const V middle =
        1.5252733804059841e-05 +
        f * (1.3215486790144309e-06 + f * (1.0178086009239700e-07 + f * (7.0549116208011234e-09 + f * high)));
    return 0.6931471805599453 +
           f * (0.2402265069591007 +
                f * (0.05550410866482158 +
                     f * (0.009618129107628477 +
                          f * (0.0013333558146428443 + f * (0.00015403530393381608 + f * middle)))));
  }
};

/// 2^t for kLeast <= t <= 0. V is T or a vector of T, `Bits` the unsigned integer or vector of integers of
/// the same width.
template <class T, class V, class Bits>
CONTORNO_HD inline V exp2_of_negative(const V& t) {
  const V moved = t + Exp2<T>::kRound;
  const V fraction = t - (moved - Exp2<T>::kRound);
  const V power = T(1) + fraction * Exp2<T>::quotient(fraction);
  // The low bits of `moved` are the whole part; it goes to the exponent.
  return __builtin_bit_cast(
      V, __builtin_bit_cast(Bits, power) + (__builtin_bit_cast(Bits, moved) << Exp2<T>::kMantissa));
}

/// Weight at a squared distance below the limit. Gaussian: 2^(scale * d2), scale = -log2(e) / (2 sigma^2).
/// Epanechnikov: 1 + scale * d2, scale = -1 / sigma^2.
template <class T, MeanShiftKernel kKernel, class V, class Bits>
CONTORNO_HD inline V weight_of(const V& d2, T scale) {
  if constexpr (kKernel == MeanShiftKernel::Gaussian)
    return exp2_of_negative<T, V, Bits>(d2 * scale);
  else if constexpr (kKernel == MeanShiftKernel::Epanechnikov)
    return T(1) + d2 * scale;
  else
    return V{} + T(1);
}

}  // namespace contorno
