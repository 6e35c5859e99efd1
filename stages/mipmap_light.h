// sRGB and linear light by tables (IEC 61966-2-1, the exact piecewise curve). Eight bits are decoded to
// integers of 0..65535, so that sums are exact, and encoded by the nearest code; sixteen bits go through
// floats. The same integer and float operations on both backends.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/host_device.h"

namespace contorno {

inline constexpr float kFullLight = 65535.0F;

/// Codes of the 4096 sixteenths of linear light: an entry is the code at the beginning of its 16 values, and
/// from which of them on the code is one more (16: from none). No code is narrower than 16 values.
inline constexpr int kLightCells = 4096;
struct LightCell {
  std::uint8_t code = 0, step = 16;
};

/// Beyond kKnee the curve of 16 bit is a chain of lines, 256 to an octave; within 0.04 codes.
inline constexpr float kLightKnee = 0.0031308F;
inline constexpr int kLightLineShift = 15;
inline constexpr std::uint32_t kLightFirstLine = std::bit_cast<std::uint32_t>(kLightKnee) >> kLightLineShift;
inline constexpr std::uint32_t kLightLines =
    (std::bit_cast<std::uint32_t>(1.0F) >> kLightLineShift) - kLightFirstLine + 1;
struct LightLine {
  float start = 0, slope = 0;
};

/// The way from 8 bits to light by arithmetic, for kernels that can look up in 16 entries only: a piecewise
/// quadratic, a parabola for every 16 codes, that gives their lights exactly. With the entries of code / 16,
/// x = 512 * code + fractions[min(code, 15)] and integers of 16 bits,
///   light = constant + ((slope + (curve * x >> 16)) * x >> 16).
struct LightParabolas {
  alignas(16) std::uint8_t constants[2][16], slopes[2][16], curves[2][16];  ///< low bytes, high bytes
  alignas(16) std::uint8_t fractions[16];
};
/// For the 256 lights of LightTables::whole. Throws InternalError where there are none.
LightParabolas find_light_parabolas(const std::uint16_t* whole);

/// The way back to 8 bits as it is defined, for kernels that look up in registers: below kSmallLight `small`,
/// from there on a cubic a quarter octave, whose whole part is the code. It is within 0.001 of the curve.
inline constexpr int kSmallLight = 256;
struct LightVectors {
  alignas(64) std::uint8_t low[256], high[256];  ///< of `whole` minus 32768
  alignas(64) std::uint8_t small[kSmallLight];
  alignas(64) float cubic[4][32];  ///< by the low bits of exponent and mantissa
  LightParabolas parabolas;
  std::uint8_t codes[65536];  ///< all of it, one look-up instead of the two and more of `cells`
};

struct LightTables {
  LightVectors vectors;
  std::uint16_t whole[256];      ///< light of an 8-bit code, 0..65535
  float light8[256];             ///< the same, not rounded
  float light16[65536];          ///< light of a 16-bit code, 0..65535
  LightCell cells[kLightCells];  ///< back to 8 bits
  LightLine lines[kLightLines];  ///< back to 16 bits
};

/// Made at the first call, in some milliseconds.
const LightTables& light_tables();

/// The 8-bit code nearest to `light` (0..65535).
CONTORNO_HD inline std::uint8_t light_to_code8(const LightCell* cells, std::uint32_t light) {
  const LightCell cell = cells[light >> 4];
  return static_cast<std::uint8_t>(cell.code + ((light & 15U) >= cell.step ? 1 : 0));
}

/// The 16-bit code of `light`, limited to 0..65535; NaN gives 0.
CONTORNO_HD inline std::uint16_t light_to_code16(const LightLine* lines, float light) {
  const float limited = light > 0.0F ? (light < kFullLight ? light : kFullLight) : 0.0F;
  const float share = limited * (1.0F / kFullLight);
  float code = share * (12.92F * kFullLight);
  if (share > kLightKnee) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(share);
    const LightLine line = lines[(bits >> kLightLineShift) - kLightFirstLine];
    const float begin = std::bit_cast<float>(bits >> kLightLineShift << kLightLineShift);
    code = line.start + line.slope * (share - begin);
  }
  const float rounded = code + 0.5F;
  return static_cast<std::uint16_t>(rounded < kFullLight ? static_cast<int>(rounded) : 65535);
}

}  // namespace contorno
