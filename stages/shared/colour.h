// Colour arithmetic of both backends: only + - * / and comparisons on float, so that host and device give the
// same bits. Components are 0..1 unless a comment says otherwise.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/host_device.h"

namespace contorno {

struct Triple {
  float x = 0, y = 0, z = 0;
};

/// Linear light of an 8-bit sRGB component. Host only: made when a stage is planned.
inline std::array<float, 256> srgb_decode_table() {
  std::array<float, 256> table{};
  for (int i = 0; i < 256; ++i) {
    const double v = i / 255.0;
    table[static_cast<std::size_t>(i)] =
        static_cast<float>(v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4));
  }
  return table;
}

/// Cube root of x >= 0 within 2 units in the last place; 0 below 1e-9. A third of the exponent is the first
/// guess (3 % off), each Halley step cubes the error.
CONTORNO_HD inline float cube_root(float x) {
  const float keep = x < 1e-9F ? 0.0F : 1.0F;
  const float v = x < 1e-9F ? 1e-9F : x;  // no denormal intermediates
  const float y = std::bit_cast<float>(std::bit_cast<std::uint32_t>(v) / 3U + 0x2a514067U);
  const float cube = y * y * y;
  const float z = y * (cube + 2.0F * v) / (2.0F * cube + v);
  const float cube_of_z = z * z * z;
  return keep * (z * (cube_of_z + 2.0F * v) / (2.0F * cube_of_z + v));
}

/// Oklab (Ottosson 2020) of linear light: x = lightness 0..1, y and z about -0.4..0.4.
CONTORNO_HD inline Triple oklab_of(float red, float green, float blue) {
  const float l = cube_root(0.4122214708F * red + 0.5363325363F * green + 0.0514459929F * blue);
  const float m = cube_root(0.2119034982F * red + 0.6806995451F * green + 0.1073969566F * blue);
  const float s = cube_root(0.0883024619F * red + 0.2817188376F * green + 0.6299787005F * blue);
  return {0.2104542553F * l + 0.7936177850F * m - 0.0040720468F * s,
          1.9779984951F * l - 2.4285922050F * m + 0.4505937099F * s,
          0.0259040371F * l + 0.7827717662F * m - 0.8086757660F * s};
}

/// What HSV and HSL have in common: the hue in turns 0..1 (0 for greys), and the greatest and the least
/// component.
struct HueAndRange {
  float hue, high, low;

  /// Components are in 0..1.
  CONTORNO_HD HueAndRange(float red, float green, float blue) {
    const float high_rg = red > green ? red : green;
    const float low_rg = red > green ? green : red;
    high = high_rg > blue ? high_rg : blue;
    low = low_rg < blue ? low_rg : blue;
    const float divisor = chroma() > 0.0F ? 6.0F * chroma() : 1.0F;
    const float from_red = (green - blue) / divisor;
    const float from_green = (blue - red) / divisor + (1.0F / 3.0F);
    const float from_blue = (red - green) / divisor + (2.0F / 3.0F);
    const float signed_hue = high == red ? from_red : (high == green ? from_green : from_blue);
    hue = chroma() > 0.0F ? (signed_hue < 0.0F ? signed_hue + 1.0F : signed_hue) : 0.0F;
  }
  CONTORNO_HD float chroma() const { return high - low; }
};

/// x = hue in turns 0..1 (0 for greys), y = saturation, z = value; red, green, blue in 0..1.
CONTORNO_HD inline Triple hsv_of(float red, float green, float blue) {
  const HueAndRange one(red, green, blue);
  return {one.hue, one.high > 0.0F ? one.chroma() / one.high : 0.0F, one.high};
}

/// x = hue as in hsv_of, y = saturation, z = lightness, the middle of the greatest and the least component.
CONTORNO_HD inline Triple hsl_of(float red, float green, float blue) {
  const HueAndRange one(red, green, blue);
  const float sum = one.high + one.low, room = sum < 1.0F ? sum : 2.0F - sum;
  return {one.hue, room > 0.0F ? one.chroma() / room : 0.0F, 0.5F * sum};
}

/// Luma of ITU-R BT.601, as in most grey conversions.
CONTORNO_HD inline float luma_of(float red, float green, float blue) {
  return 0.299F * red + 0.587F * green + 0.114F * blue;
}

}  // namespace contorno
