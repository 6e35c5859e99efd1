// The angle of a vector, from additions, products, quotients and square roots alone: those are rounded alike
// everywhere, which the library functions of hosts and devices are not.
#pragma once

#include <cmath>
#include <numbers>

#include "base/host_device.h"

namespace contorno {

/// atan(t) for 0 <= t <= 1, with an error of a few units in the last place. Halving the angle twice,
/// tan(a / 2) = tan a / (1 + sqrt(1 + tan^2 a)), makes the series short.
CONTORNO_HD inline double arc_tangent(double t) {
  for (int halving = 0; halving < 2; ++halving) t = t / (1 + std::sqrt(1 + t * t));
  constexpr int kTerms = 12;  // t <= tan(pi / 16): the next one is below 2^-53 of the first
  const double square = t * t;
  double sum = 0;
  for (int k = kTerms - 1; k >= 0; --k) sum = 1.0 / (2 * k + 1) - square * sum;
  return 4 * t * sum;
}

/// The angle of (x, y) from (1, 0) towards (0, 1), from -pi to pi; 0 for (0, 0) and where one is NaN.
CONTORNO_HD inline double angle_of(double y, double x) {
  constexpr double kPi = std::numbers::pi;
  const double across = x < 0 ? -x : x, up = y < 0 ? -y : y;
  if (!(across > 0 || up > 0)) return 0;
  const double first = up <= across ? arc_tangent(up / across) : kPi / 2 - arc_tangent(across / up);
  const double upper = x < 0 ? kPi - first : first;
  return y < 0 ? -upper : upper;
}

}  // namespace contorno
