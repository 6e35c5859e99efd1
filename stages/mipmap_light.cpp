#include "stages/mipmap_light.h"

#include <cmath>
#include <memory>
#include <numbers>

namespace contorno {
namespace {

double decode(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}

double encode_curve(double light) {
  return 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

/// Newton's form through four Chebyshev points of each quarter octave from 256 to 65536.
void fill_cubics(LightVectors& vectors) {
  for (int piece = 0; piece < 32; ++piece) {
    const double octave = kSmallLight << (piece / 4), from = octave * (1 + piece % 4 / 4.0);
    double x[4], d[4];
    for (int k = 0; k < 4; ++k) {
      x[k] = from + octave / 4 * (0.5 + 0.5 * std::cos(std::numbers::pi * (2 * k + 1) / 8));
      d[k] = 255 * encode_curve(x[k] / 65535) + 0.5;
    }
    for (int order = 1; order < 4; ++order)
      for (int k = 3; k >= order; --k) d[k] = (d[k] - d[k - 1]) / (x[k] - x[k - order]);
    const auto at = std::bit_cast<std::uint32_t>(static_cast<float>(from)) >> 21 & 31;
    const double pairs = x[0] * x[1] + x[0] * x[2] + x[1] * x[2];
    vectors.cubic[3][at] = static_cast<float>(d[3]);
    vectors.cubic[2][at] = static_cast<float>(d[2] - d[3] * (x[0] + x[1] + x[2]));
    vectors.cubic[1][at] = static_cast<float>(d[1] - d[2] * (x[0] + x[1]) + d[3] * pairs);
    vectors.cubic[0][at] =
        static_cast<float>(d[0] - d[1] * x[0] + d[2] * x[0] * x[1] - d[3] * x[0] * x[1] * x[2]);
  }
}

/// The code of integer light from kSmallLight on.
int code_by_cubic(const LightVectors& vectors, int light) {
  const auto x = static_cast<float>(light);
  const std::uint32_t at = std::bit_cast<std::uint32_t>(x) >> 21 & 31;
  const auto& cubic = vectors.cubic;
  return static_cast<int>(
      std::fma(x, std::fma(x, std::fma(x, cubic[3][at], cubic[2][at]), cubic[1][at]), cubic[0][at]));
}

void fill_codes(LightTables& tables) {
  LightVectors& vectors = tables.vectors;
  for (int code = 0; code < 256; ++code) {
    const auto shifted = static_cast<std::uint16_t>(tables.whole[code] - 32768);
    vectors.low[code] = static_cast<std::uint8_t>(shifted & 255);
    vectors.high[code] = static_cast<std::uint8_t>(shifted >> 8);
  }
  for (int light = 0; light < kSmallLight; ++light) {
    const double share = light / 65535.0;
    const double code = 255 * (share <= 0.0031308 ? 12.92 * share : encode_curve(share));
    vectors.small[light] = static_cast<std::uint8_t>(std::floor(code + 0.5));
  }
  vectors.parabolas = find_light_parabolas(tables.whole);
  fill_cubics(vectors);
  const auto code_of = [&](int light) {
    return light < kSmallLight ? vectors.small[light] : code_by_cubic(vectors, light);
  };
  for (int light = 0; light < 65536; ++light)
    vectors.codes[light] = static_cast<std::uint8_t>(code_of(light));
  for (int cell = 0; cell < kLightCells; ++cell) {
    LightCell& to = tables.cells[cell];
    const std::uint8_t* codes = vectors.codes + std::ptrdiff_t{16} * cell;
    to.code = codes[0];
    for (to.step = 1; to.step < 16 && codes[to.step] == to.code;) ++to.step;
  }
}

void fill_lines(LightTables& tables) {
  for (std::uint32_t i = 0; i < kLightLines; ++i) {
    const auto at = [](std::uint32_t line) {
      return static_cast<double>(std::bit_cast<float>((kLightFirstLine + line) << kLightLineShift));
    };
    const double from = 65535 * encode_curve(at(i)), to = 65535 * encode_curve(at(i + 1));
    tables.lines[i] = {static_cast<float>(from), static_cast<float>((to - from) / (at(i + 1) - at(i)))};
  }
}

void fill(LightTables& tables) {
  for (int code = 0; code < 256; ++code) {
    const double light = 65535 * decode(code / 255.0);
    tables.whole[code] = static_cast<std::uint16_t>(std::floor(light + 0.5));
    tables.light8[code] = static_cast<float>(light);
  }
  for (int code = 0; code < 65536; ++code)
    tables.light16[code] = static_cast<float>(65535 * decode(code / 65535.0));
  fill_lines(tables);
  fill_codes(tables);
}

}  // namespace

const LightTables& light_tables() {
  static const std::unique_ptr<const LightTables> tables = [] {
    auto made = std::make_unique<LightTables>();
    fill(*made);
    return made;
  }();
  return *tables;
}

}  // namespace contorno
