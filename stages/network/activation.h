// Probabilities of logits, computed by contorno and not by the engine: the same bits on every machine for
// given logits. The exponential function is made of multiplications, additions and a power of two in double
// precision; no library's is used.
#pragma once

#include <bit>
#include <cstdint>

namespace contorno {

enum class Activation : std::uint8_t { None, Softmax, Sigmoid };

/// e^x for x <= 0, to 1e-15 of its value; 0 below -700. NaN is NaN.
inline double exp_of_negative(double x) {
  if (!(x > -700.0)) return x == x ? 0.0 : x;
  constexpr double kLog2e = 1.4426950408889634, kLn2High = 6.93147180369123816490e-01,
                   kLn2Low = 1.90821492927058770002e-10;
  // 1 / n!, n from 13 to 0.
  constexpr double kSeries[] = {1.0 / 6227020800.0,
                                1.0 / 479001600.0,
                                1.0 / 39916800.0,
                                1.0 / 3628800.0,
                                1.0 / 362880.0,
                                1.0 / 40320.0,
                                1.0 / 5040.0,
                                1.0 / 720.0,
                                1.0 / 120.0,
                                1.0 / 24.0,
                                1.0 / 6.0,
                                0.5,
                                1.0,
                                1.0};
  const auto power = static_cast<std::int64_t>(x * kLog2e - 0.5);  // the nearest whole number
  const auto k = static_cast<double>(power);
  const double r = (x - k * kLn2High) - k * kLn2Low;  // |r| <= ln(2) / 2
  double sum = 0;
  for (const double factor : kSeries) sum = sum * r + factor;
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(power + 1023) << 52);
}

inline float sigmoid_of(float logit) {
  const auto x = static_cast<double>(logit);
  const double small = exp_of_negative(x < 0 ? x : -x);
  return static_cast<float>((x < 0 ? small : 1.0) / (1.0 + small));
}

/// The most channels of a network's output.
inline constexpr int kMaxNetworkChannels = 1024;

/// Over the channels of a pixel, in their order: channel c at values[c * step]. In place.
inline void softmax(float* values, int channels, std::int64_t step) {
  double weights[kMaxNetworkChannels];
  float most = values[0];
  for (int c = 1; c < channels; ++c) most = values[c * step] > most ? values[c * step] : most;
  double sum = 0;
  for (int c = 0; c < channels; ++c) {
    weights[c] = exp_of_negative(static_cast<double>(values[c * step]) - static_cast<double>(most));
    sum += weights[c];
  }
  for (int c = 0; c < channels; ++c) values[c * step] = static_cast<float>(weights[c] / sum);
}

}  // namespace contorno
