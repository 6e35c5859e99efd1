// Conversion between sRGB codes and linear light (IEC 61966-2-1, the piecewise curve), with the same integer
// and float operations on both backends. Light is 0..65535 (kFullLight).
//
// 8-bit codes are decoded to integers, so that sums are exact, and encoded by parabolas, which vector kernels
// can compute. 16-bit codes are converted in floats.
#pragma once

#include <bit>
#include <cstdint>

#include "cuda/host_device.h"

namespace contorno {

inline constexpr float kFullLight = 65535.0F;

/// The curve and its inverse; arguments and results are 0..1.
double linear_from_srgb(double code);
double srgb_from_linear(double light);

/// A table from light to 8-bit codes. Light is cut into 4096 cells of 16 values: `code` is the code of the
/// first value of a cell, and from value number `step` on the code is one more (16: the code does not
/// change). No code has less than 16 values, so it changes at most once in a cell.
inline constexpr int kLightCells = 4096;
struct LightCell {
  std::uint8_t code = 0, step = 16;
};

/// A table from light to 16-bit codes. Above kLightKnee (of 0..1) the curve is approximated by straight
/// lines, 256 for each factor of two, within 0.04 codes.
inline constexpr float kLightKnee = 0.0031308F;
inline constexpr int kLightLineShift = 15;
inline constexpr std::uint32_t kLightFirstLine = std::bit_cast<std::uint32_t>(kLightKnee) >> kLightLineShift;
inline constexpr std::uint32_t kLightLines =
    (std::bit_cast<std::uint32_t>(1.0F) >> kLightLineShift) - kLightFirstLine + 1;
struct LightLine {
  float start = 0, slope = 0;
};

/// The way from 8 bits to light by products of bytes, for kernels that can look up in 16 entries only: a
/// parabola for every 16 codes. With s = code / 16 and n = code % 16 it is in 32nds of light
///   32 * (constants[s] + toe[code]) + slopes[s] * n + curves[s] * squares[n],
/// where toe is 0 from code 16 on. One half is in it, so that a mean is rounded by cutting off its fraction.
/// Sums of two products of bytes stay below 2^15; sums of four of all low bytes, below 2^16.
struct LightParabolas {
  alignas(16) std::uint8_t constants[2][16];  ///< low bytes, high bytes
  alignas(16) std::uint8_t slopes[2][16];     ///< the low seven bits, the others
  alignas(16) std::uint8_t curves[16], squares[16], toe[16];
};
/// Finds parabolas within 0.6 of the curve, exact for black and white. Throws InternalError if there are
/// none.
LightParabolas find_light_parabolas();
/// The light of a code in 32nds, plus one half of light (16), as kernels compute it.
std::uint32_t light32_by_parabolas(const LightParabolas& parabolas, int code);

/// The way back to 8 bits as it is defined: a parabola for each of 16 segments, the shorter the darker. With
/// the entries of a light's segment and integers of 16 bits,
///   x = light * scale, what is beyond 16 bits cut off,
///   code = (constant + ((slope - (curve * x >> 16)) * x >> 16)) >> 8.
/// Monotone, and within 0.07 codes of the curve.
struct CodeParabolas {
  alignas(16) std::uint8_t bright[16];  ///< the segment by light / 4096, from 4096 on; else 0
  alignas(16) std::uint8_t dark[16];    ///< the segment by light / 256, below 4096
  alignas(16) std::uint8_t scales[16];
  alignas(16) std::uint8_t constants[2][16], slopes[2][16], curves[2][16];  ///< low bytes, high bytes
};
CodeParabolas find_code_parabolas();
/// The 8-bit code of `light`, 0..65535, as kernels compute it.
std::uint8_t code_by_parabolas(const CodeParabolas& parabolas, std::uint32_t light);

struct LightTables {
  LightParabolas to_light;
  CodeParabolas to_code;
  std::uint32_t whole32[256];    ///< light of an 8-bit code, see light32_by_parabolas
  std::uint16_t whole[256];      ///< light of an 8-bit code, 0..65535, rounded from the curve
  float light8[256];             ///< light of an 8-bit code, not rounded
  float light16[65536];          ///< light of a 16-bit code, 0..65535
  LightCell cells[kLightCells];  ///< from light to 8-bit codes
  LightLine lines[kLightLines];  ///< from light to 16-bit codes
};

/// The tables, made at the first call in some milliseconds. They live as long as the program; safe from any
/// thread.
const LightTables& light_tables();

/// The 8-bit code of `light` (0..65535): that of code_by_parabolas.
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
