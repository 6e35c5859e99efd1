// Complex numbers, and roots of unity, for host and device. The sine and the cosine are made of sums,
// products and quotients alone: those are rounded alike everywhere, which the library functions of hosts and
// devices are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

#include "base/host_device.h"

namespace contorno::fourier {

/// Not std::complex, which device code lacks, and whose product treats NaN in a way of each library's own.
struct Complex {
  double re = 0, im = 0;
};
CONTORNO_HD inline Complex operator+(const Complex& a, const Complex& b) {
  return {a.re + b.re, a.im + b.im};
}
CONTORNO_HD inline Complex operator-(const Complex& a, const Complex& b) {
  return {a.re - b.re, a.im - b.im};
}
CONTORNO_HD inline Complex operator*(const Complex& a, const Complex& b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
CONTORNO_HD inline Complex operator*(double a, const Complex& b) {
  return {a * b.re, a * b.im};
}
CONTORNO_HD inline Complex conjugate(const Complex& a) {
  return {a.re, -a.im};
}
CONTORNO_HD inline double magnitude(const Complex& a) {
  return std::sqrt(a.re * a.re + a.im * a.im);
}

/// 1 - s/(n (n - 1)) (1 - s/((n + 2)(n + 1)) (1 - ...)), to the last factor that counts for s <= (pi / 4)^2:
/// Taylor's series of cos x for n = 2 and s = x^2, that of (sin x) / x for n = 3.
template <int kFactor>
CONTORNO_HD inline double taylor_tail(double s) {
  if constexpr (kFactor > 17)
    return 1;
  else
    return 1 - s * (1.0 / (kFactor * (kFactor - 1))) * taylor_tail<kFactor + 2>(s);
}
/// (cos, sin) of x for 0 <= x <= pi / 4, each to about a unit in the last place.
CONTORNO_HD inline Complex cosine_and_sine(double x) {
  const double s = x * x;
  // x itself comes last, so that of the sine only a small rest is rounded more than once.
  return {taylor_tail<2>(s), x - x * (s * (1.0 / 6) * taylor_tail<5>(s))};
}

/// exp(i angle) for an angle of whole eighths of a turn, 0 to 7, and the part `numerator` / `denominator` of
/// another one, which is less than 1. Both are exact, so that no angle is reduced in floating point.
CONTORNO_HD inline Complex on_circle(unsigned eighths, std::uint64_t numerator, std::uint64_t denominator) {
  // Odd eighths are measured back from their end, so that the nearer quarter turn is at most pi / 4 away.
  const bool back = eighths % 2 != 0;
  const std::uint64_t part = back ? denominator - numerator : numerator;
  Complex r =
      cosine_and_sine(static_cast<double>(part) / static_cast<double>(denominator) * (std::numbers::pi / 4));
  if (back) r.im = -r.im;
  switch ((eighths + 1) / 2 % 4) {
    case 1:
      return {-r.im, r.re};
    case 2:
      return {-r.re, -r.im};
    case 3:
      return {r.im, -r.re};
    default:
      return r;
  }
}
/// exp(2 pi i k / n) for k < n < 2^61.
CONTORNO_HD inline Complex root_of_unity(std::uint64_t k, std::uint64_t n) {
  const std::uint64_t eighths = 8 * k / n;
  return on_circle(static_cast<unsigned>(eighths), 8 * k - eighths * n, n);
}
/// exp(2 pi i t) for t in units of 2^-64 of a turn.
CONTORNO_HD inline Complex root_of_turn(std::uint64_t t) {
  constexpr std::uint64_t kEighth = 1ULL << 61;
  return on_circle(static_cast<unsigned>(t / kEighth), t % kEighth, kEighth);
}

}  // namespace contorno::fourier
