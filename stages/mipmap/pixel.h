// The arithmetic of a mipmap pixel, for both backends. A rule says into which terms a pixel is split (load),
// how weighted sums of terms become a pixel of the next level (finish), and in which number types. Sums go
// down the columns first, then along the row, over ascending taps.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "stages/mipmap/plan.h"

namespace contorno {

/// `sum` divided by `weight`, halves up; exact.
CONTORNO_HD inline std::uint64_t half_up(std::uint64_t sum, std::uint64_t weight) {
  const std::uint64_t whole = sum / weight, rest = sum - whole * weight;
  return whole + (rest >= weight - rest ? 1 : 0);
}
/// half_up for sums below 2^48 whose result has 16 bits. The rounding error of the quotient in double is
/// smaller than its distance to the next integer can be, unless it is an integer.
CONTORNO_HD inline std::uint32_t half_up_short(std::uint64_t sum, std::uint64_t weight) {
  const auto twice = static_cast<double>(static_cast<std::int64_t>(2 * sum + weight));
  return static_cast<std::uint32_t>(
      static_cast<std::int32_t>(twice / static_cast<double>(static_cast<std::int64_t>(2 * weight))));
}

/// `sum` divided by `weight`, rounded down, for sums below 2^49 whose result has 17 bits; exact for the same
/// reason.
CONTORNO_HD inline std::uint32_t floor_short(std::uint64_t sum, std::uint64_t weight) {
  return static_cast<std::uint32_t>(
      static_cast<std::int32_t>(static_cast<double>(static_cast<std::int64_t>(sum)) /
                                static_cast<double>(static_cast<std::int64_t>(weight))));
}

/// Whether colours are averaged as they are, or weighed by their alpha.
enum class Weighing : std::uint8_t { Plain, ByAlpha };

/// How many terms a pixel has. Plain: its channels. ByAlpha: its colours times alpha, its alpha, and its
/// colours, which count where every alpha is 0.
template <int kChannels, Weighing kWeighing>
inline constexpr int kMipmapTerms = kWeighing == Weighing::Plain ? kChannels : 2 * kChannels - 1;

/// A rule of exact integer sums with one rounding. kLight: uint8 colours are decoded to light.
template <class T, int kC, Weighing kWeighing, bool kLight>
struct WholeRule {
  using Sample = T;
  using Stored = T;
  using Weight = std::uint32_t;
  using Total = std::uint64_t;
  using Column = std::conditional_t<kWeighing == Weighing::Plain, std::uint32_t, std::uint64_t>;
  /// The type of a sum of four pixels' terms.
  using Four =
      std::conditional_t<sizeof(T) == 1 || kWeighing == Weighing::Plain, std::uint32_t, std::uint64_t>;
  static constexpr int kChannels = kC;
  static constexpr int kTerms = kMipmapTerms<kC, kWeighing>;
  static constexpr bool kHasAlpha = kC % 2 == 0 && (kLight || kWeighing == Weighing::ByAlpha);
  CONTORNO_HD static constexpr bool is_light(int channel) {
    return kLight && (!kHasAlpha || channel < kC - 1);
  }

  const LightTables* light = nullptr;  ///< where the backend can read it; null without kLight

  CONTORNO_HD static Weight weight(const MipmapTaps& taps, std::ptrdiff_t tap) { return taps.whole[tap]; }
  CONTORNO_HD static Total whole_weight(const MipmapTaps& across, const MipmapTaps& down) {
    return static_cast<Total>(across.total) * down.total;
  }

  template <class N>
  CONTORNO_HD void load(const T* pixel, N* terms) const {
    N values[kC];
    for (int c = 0; c < kC; ++c) {
      values[c] = pixel[c];
      if constexpr (kLight)
        if (is_light(c)) values[c] = light->light8[pixel[c]];
    }
    if constexpr (kWeighing == Weighing::Plain) {
      for (int c = 0; c < kC; ++c) terms[c] = values[c];
    } else {
      terms[kC - 1] = values[kC - 1];
      for (int c = 0; c < kC - 1; ++c) terms[c] = values[c] * values[kC - 1], terms[kC + c] = values[c];
    }
  }

  CONTORNO_HD void finish(const Total* sums, Total weight, T* pixel, float* /*kept*/) const {
    if constexpr (kWeighing == Weighing::Plain) {
      for (int c = 0; c < kC; ++c)
        pixel[c] = is_light(c) ? code(floor_short(2 * sums[c], weight))
                               : static_cast<T>(half_up_short(sums[c], weight));
    } else {
      const Total alpha = sums[kC - 1];
      pixel[kC - 1] = static_cast<T>(half_up_short(alpha, weight));
      for (int c = 0; c < kC - 1; ++c) {
        const Total sum = alpha == 0 ? sums[kC + c] : sums[c], total = alpha == 0 ? weight : alpha;
        pixel[c] = kLight ? code(2 * sum / total) : static_cast<T>(half_up(sum, total));
      }
    }
  }

  /// finish for the sums of four pixels, each of weight 1.
  CONTORNO_HD void finish_four(const Four* sums, T* pixel) const {
    if constexpr (kWeighing == Weighing::Plain) {
      for (int c = 0; c < kC; ++c)
        pixel[c] = is_light(c) ? code(sums[c] >> 1) : static_cast<T>((sums[c] + 2) >> 2);
    } else {
      const Four alpha = sums[kC - 1];
      pixel[kC - 1] = static_cast<T>((alpha + 2) >> 2);
      for (int c = 0; c < kC - 1; ++c) {
        const Four sum = alpha == 0 ? sums[kC + c] : sums[c], total = alpha == 0 ? 4 : alpha;
        pixel[c] = kLight ? code(2 * sum / total) : static_cast<T>((2 * sum + total) / (2 * total));
      }
    }
  }
  CONTORNO_HD void halve(const T* a, const T* b, const T* c, const T* d, T* pixel) const {
    Four sums[kTerms], next[kTerms];
    load(a, sums);
    for (const T* one : {b, c, d}) {
      load(one, next);
      for (int k = 0; k < kTerms; ++k) sums[k] += next[k];
    }
    finish_four(sums, pixel);
  }

 private:
  /// The code for twice a mean of lights, rounded down.
  CONTORNO_HD T code(Total twice) const {
    if constexpr (kLight) return light_to_code8(*light, static_cast<std::uint32_t>(twice));
    return 0;
  }
};

/// A float as it is stored: as an integer rounded to the nearest, halves up, and limited to its range, with 0
/// for NaN; as a float with every NaN replaced by the same one.
template <class T>
CONTORNO_HD T quantised(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value == value ? value : std::bit_cast<float>(0x7fc00000U);
  } else {
    constexpr float kFull = sizeof(T) == 1 ? 255.0F : 65535.0F;
    const float limited = value > 0.0F ? (value < kFull ? value : kFull) : 0.0F;
    return static_cast<T>(static_cast<std::int32_t>(limited + 0.5F));
  }
}

/// A rule of float32 sums. S is the type that is read: T, or float where the levels are also kept as floats
/// (MipmapPlan::keeps). kLight: colours are decoded to light.
template <class S, class T, int kC, Weighing kWeighing, bool kLight>
struct FloatRule {
  using Sample = S;
  using Stored = T;
  using Weight = float;
  using Total = float;
  using Column = float;
  static constexpr int kChannels = kC;
  static constexpr int kTerms = kMipmapTerms<kC, kWeighing>;
  static constexpr bool kHasAlpha = kC % 2 == 0 && (kLight || kWeighing == Weighing::ByAlpha);

  const LightTables* light = nullptr;  ///< where the backend can read it; null without kLight

  CONTORNO_HD static Weight weight(const MipmapTaps& taps, std::ptrdiff_t tap) { return taps.weights[tap]; }
  CONTORNO_HD static Total whole_weight(const MipmapTaps&, const MipmapTaps&) { return 1; }

  CONTORNO_HD void load(const S* pixel, float* terms) const {
    float values[kC];
    for (int c = 0; c < kC; ++c) {
      values[c] = static_cast<float>(pixel[c]);
      if constexpr (kLight && !std::is_same_v<S, float>)
        if (!kHasAlpha || c < kC - 1) {
          if constexpr (sizeof(S) == 1)
            values[c] = static_cast<float>(light->light8[pixel[c]]);
          else
            values[c] = light->light16[pixel[c]];
        }
    }
    if constexpr (kWeighing == Weighing::Plain) {
      for (int c = 0; c < kC; ++c) terms[c] = values[c];
    } else {
      terms[kC - 1] = values[kC - 1];
      for (int c = 0; c < kC - 1; ++c) terms[c] = values[c] * values[kC - 1], terms[kC + c] = values[c];
    }
  }

  CONTORNO_HD T code(float value, int channel) const {
    if constexpr (kLight)
      if (!kHasAlpha || channel < kC - 1) {
        if constexpr (sizeof(T) == 1)
          return light_to_code8(*light, value);
        else
          return light_to_code16(*light, value);
      }
    return quantised<T>(value);
  }

  CONTORNO_HD void finish(const float* sums, float /*weight*/, T* pixel, float* kept) const {
    for (int c = 0; c < kC; ++c) {
      float value = sums[c];
      if constexpr (kWeighing == Weighing::ByAlpha)
        if (c < kC - 1) value = sums[kC - 1] > 0.0F ? sums[c] / sums[kC - 1] : sums[kC + c];
      pixel[c] = code(value, c);
      if (kept != nullptr) kept[c] = value;
    }
  }

  CONTORNO_HD void halve(const S* a, const S* b, const S* c, const S* d, T* pixel) const {
    float left[kTerms], right[kTerms], next[kTerms];
    load(a, left), load(c, next);
    for (int k = 0; k < kTerms; ++k) left[k] = 0.5F * left[k] + 0.5F * next[k];
    load(b, right), load(d, next);
    for (int k = 0; k < kTerms; ++k) right[k] = 0.5F * right[k] + 0.5F * next[k];
    for (int k = 0; k < kTerms; ++k) left[k] = 0.5F * left[k] + 0.5F * right[k];
    finish(left, 1, pixel, nullptr);
  }
};

}  // namespace contorno
