// sRGB codes and linear light (IEC 61966-2-1, the piecewise curve), with the same integer and float
// operations on both backends. The light of a code comes from a table. A mean of lights goes back to the code
// whose light is nearest. Light is 0..65535 (kFullLight).
#pragma once

#include <bit>
#include <cstdint>

#include "base/host_device.h"

namespace contorno {

inline constexpr float kFullLight = 65535.0F;

/// The curve and its inverse; arguments and results are 0..1.
double linear_from_srgb(double code);
double srgb_from_linear(double light);

/// Limited to 0..65535; NaN gives 0.
CONTORNO_HD constexpr float limited_light(float light) {
  return light > 0.0F ? (light < kFullLight ? light : kFullLight) : 0.0F;
}

/// Which of two neighbouring codes has the light that is nearest to `light`: whether it is the one above. Of
/// two that are as near it is. The lights of the codes are `below` and `above`; `light` may lie beyond them.
/// Exact in floats too, because each of the lights of 16-bit codes is at most twice the one before, so that
/// differences between them are not rounded (and from black to the first one only the smaller matters).
template <class N>
CONTORNO_HD constexpr bool is_nearer_above(N light, N below, N above) {
  return light - below >= above - light;
}

/// The way to 16-bit codes. Above kLightKnee (of 0..1) the inverse curve is approximated by straight lines,
/// 256 for each factor of two, within 0.04 codes: enough to know the two codes that a light may have.
inline constexpr float kLightKnee = 0.0031308F;
inline constexpr int kLightLineShift = 15;
inline constexpr std::uint32_t kLightFirstLine = std::bit_cast<std::uint32_t>(kLightKnee) >> kLightLineShift;
inline constexpr std::uint32_t kLightLines =
    (std::bit_cast<std::uint32_t>(1.0F) >> kLightLineShift) - kLightFirstLine + 1;
struct LightLine {
  float start = 0, slope = 0;
};

/// Twice the light of white, and so the greatest of twice a mean.
inline constexpr int kTwiceFullLight = 2 * 65535;

struct LightTables {
  std::uint16_t light8[256];                ///< light of an 8-bit code, rounded
  std::uint8_t codes[kTwiceFullLight + 1];  ///< 8-bit code of twice a light: see light_to_code8
  float light16[65536];                     ///< light of a 16-bit code
  LightLine lines[kLightLines];             ///< see light_to_code16
};

/// The tables, made at the first call in some milliseconds. They live as long as the program; safe from any
/// thread.
const LightTables& light_tables();

/// The 8-bit code whose light in the table is nearest to a mean, of which `twice` is the double, rounded
/// down. Nothing is lost by that rounding, because the middle between two lights is a whole number of halves.
CONTORNO_HD inline std::uint8_t light_to_code8(const LightTables& tables, std::uint32_t twice) {
  return tables.codes[twice];
}
/// The 8-bit code of a mean in float, which is limited to 0..65535; NaN gives 0.
CONTORNO_HD inline std::uint8_t light_to_code8(const LightTables& tables, float light) {
  return tables.codes[static_cast<std::int32_t>(2.0F * limited_light(light))];
}

/// The 16-bit code whose light in the table is nearest to `light`, limited to 0..65535; NaN gives 0.
CONTORNO_HD inline std::uint16_t light_to_code16(const LightTables& tables, float light) {
  const float limited = limited_light(light), share = limited * (1.0F / kFullLight);
  float code = share * (12.92F * kFullLight);
  if (share > kLightKnee) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(share);
    const LightLine line = tables.lines[(bits >> kLightLineShift) - kLightFirstLine];
    const float begin = std::bit_cast<float>(bits >> kLightLineShift << kLightLineShift);
    code = line.start + line.slope * (share - begin);
  }
  const int below = code < 65534.0F ? static_cast<int>(code) : 65534;
  const bool above = is_nearer_above(limited, tables.light16[below], tables.light16[below + 1]);
  return static_cast<std::uint16_t>(below + (above ? 1 : 0));
}

}  // namespace contorno
