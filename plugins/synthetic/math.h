// The mathematics of the synthetic line: vectors, rotations, random numbers and sRGB. Everything is computed
// by the four basic operations and square roots, which every machine rounds alike, so that the same seed
// gives the same bits everywhere.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "stages/shared/philox.h"

namespace contorno::synthetic {

struct Vec3 {
  float x = 0, y = 0, z = 0;
};
inline Vec3 operator+(Vec3 a, Vec3 b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
inline Vec3 operator-(Vec3 a, Vec3 b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
inline Vec3 operator*(Vec3 a, float s) {
  return {a.x * s, a.y * s, a.z * s};
}
inline Vec3 operator*(Vec3 a, Vec3 b) {
  return {a.x * b.x, a.y * b.y, a.z * b.z};
}
inline float dot(Vec3 a, Vec3 b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline Vec3 unit(Vec3 a) {
  return a * (1.0F / std::sqrt(std::max(dot(a, a), 1e-20F)));
}
inline Vec3 mix(Vec3 a, Vec3 b, float t) {
  return a + (b - a) * t;
}
inline float mix(float a, float b, float t) {
  return a + (b - a) * t;
}
inline float clamp01(float v) {
  return v < 0 ? 0 : v > 1 ? 1 : v;
}
/// 0 below `from`, 1 above `to` (or the other way round), smooth between.
inline float smooth(float from, float to, float v) {
  const float t = clamp01((v - from) / (to - from));
  return t * t * (3 - 2 * t);
}

struct SampleRange {
  int first = 0, last = -1;
};
/// Which of `count` samples, each `step` wide, may have their middle within `reach` of `centre`; none where
/// `last` is less than `first`.
inline SampleRange samples_near(float centre, float reach, float step, int count) {
  const int first = static_cast<int>(std::floor((centre - reach) / step - 0.5F));
  const int last = static_cast<int>(std::ceil((centre + reach) / step - 0.5F));
  return {std::clamp(first, 0, count), std::clamp(last, -1, count - 1)};
}

/// Columns are where the object's axes point in the world.
struct Rotation {
  Vec3 x{1, 0, 0}, y{0, 1, 0}, z{0, 0, 1};
  Vec3 to_world(Vec3 v) const { return x * v.x + y * v.y + z * v.z; }
  Vec3 to_object(Vec3 v) const { return {dot(x, v), dot(y, v), dot(z, v)}; }
};

/// Cosine and sine of an angle in turns, to 1e-12.
struct CosSin {
  double cos = 1, sin = 0;
};
inline CosSin cos_sin(double turns) {
  constexpr double kTurn = 6.283185307179586476925;
  const double phase = turns - std::floor(turns + 0.5);  // -0.5 to 0.5
  const double angle = phase * kTurn / 8,
               square = angle * angle;  // an eighth: short series, then doubled thrice
  double cos = 1 - square / 2 * (1 - square / 12 * (1 - square / 30 * (1 - square / 56 * (1 - square / 90))));
  double sin =
      angle *
      (1 - square / 6 * (1 - square / 20 * (1 - square / 42 * (1 - square / 72 * (1 - square / 110)))));
  for (int i = 0; i < 3; ++i) {
    const double doubled = 2 * sin * cos;
    cos = cos * cos - sin * sin;
    sin = doubled;
  }
  return {cos, sin};
}

/// `rotation` turned around the world's y axis.
inline Rotation turned(const Rotation& rotation, double turns) {
  const CosSin angle = cos_sin(turns);
  const auto c = static_cast<float>(angle.cos), s = static_cast<float>(angle.sin);
  const auto turn = [c, s](Vec3 v) { return Vec3{c * v.x + s * v.z, v.y, c * v.z - s * v.x}; };
  return {turn(rotation.x), turn(rotation.y), turn(rotation.z)};
}

/// A sequence of random numbers that belongs to one thing: the seed and the three numbers a, b and c, which
/// name the thing, determine it.
class Dice {
 public:
  Dice(std::uint64_t seed, std::uint32_t a, std::uint32_t b, std::uint32_t c)
      : key_(philox_key(seed)), words_{{0, a, b, c}} {}
  std::uint32_t bits() {
    const std::uint32_t word = philox(words_, key_).word[0];
    ++words_.word[0];
    return word;
  }
  float unit() { return static_cast<float>(bits() >> 8) * 0x1p-24F; }
  float between(float low, float high) { return low + (high - low) * unit(); }
  int below(int count) { return static_cast<int>(philox_high(bits(), static_cast<std::uint32_t>(count))); }
  /// A unit vector; all directions are equally likely.
  Vec3 direction() {
    for (;;) {
      const Vec3 v{between(-1, 1), between(-1, 1), between(-1, 1)};
      const float square = dot(v, v);
      if (square > 0.01F && square <= 1) return synthetic::unit(v);
    }
  }

 private:
  PhiloxKey key_;
  PhiloxWords words_;
};

/// x^(1/n) for x >= 0 by Newton's method.
constexpr double root(double x, int n) {
  if (x <= 0) return 0;
  double y = x < 1 ? 1 : x;
  for (int i = 0; i < 200; ++i) {
    double power = 1;
    for (int k = 1; k < n; ++k) power *= y;
    const double next = ((n - 1) * y + x / power) / n;
    if (!(next < y)) break;  // it falls until it is there
    y = next;
  }
  return y;
}
/// The curve of sRGB: from a stored value to linear light, and back, both 0..1.
constexpr double light_of_srgb(double v) {
  if (v <= 0.04045) return v / 12.92;
  const double x = (v + 0.055) / 1.055;
  return x * x * root(x * x, 5);
}
inline double srgb_of_light(double v) {
  if (v <= 0.0031308) return v * 12.92;
  return 1.055 * root(v * v * v * v * v, 12) - 0.055;
}
/// The linear light of the colour 0xRRGGBB, computed at compile time.
consteval Vec3 colour(std::uint32_t rgb) {
  return {static_cast<float>(light_of_srgb((rgb >> 16 & 255) / 255.0)),
          static_cast<float>(light_of_srgb((rgb >> 8 & 255) / 255.0)),
          static_cast<float>(light_of_srgb((rgb & 255) / 255.0))};
}

}  // namespace contorno::synthetic
