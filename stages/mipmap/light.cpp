#include "stages/mipmap/light.h"

#include <cmath>
#include <memory>

namespace contorno {

double linear_from_srgb(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}
double srgb_from_linear(double light) {
  return light <= 0.0031308 ? 12.92 * light : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

namespace {

void fill_codes(LightTables& tables) {
  int code = 0;
  for (int twice = 0; twice <= kTwiceFullLight; ++twice) {
    if (code < 255 && is_nearer_above(twice, 2 * tables.light8[code], 2 * tables.light8[code + 1])) ++code;
    tables.codes[twice] = static_cast<std::uint8_t>(code);
  }
}

void fill_lines(LightTables& tables) {
  for (std::uint32_t i = 0; i < kLightLines; ++i) {
    const auto at = [](std::uint32_t line) {
      return static_cast<double>(std::bit_cast<float>((kLightFirstLine + line) << kLightLineShift));
    };
    const double from = 65535 * srgb_from_linear(at(i)), to = 65535 * srgb_from_linear(at(i + 1));
    tables.lines[i] = {static_cast<float>(from), static_cast<float>((to - from) / (at(i + 1) - at(i)))};
  }
}

}  // namespace

const LightTables& light_tables() {
  static const std::unique_ptr<const LightTables> tables = [] {
    auto made = std::make_unique<LightTables>();
    for (int code = 0; code < 256; ++code)
      made->light8[code] =
          static_cast<std::uint16_t>(std::floor(65535 * linear_from_srgb(code / 255.0) + 0.5));
    for (int code = 0; code < 65536; ++code)
      made->light16[code] = static_cast<float>(65535 * linear_from_srgb(code / 65535.0));
    fill_codes(*made), fill_lines(*made);
    return made;
  }();
  return *tables;
}

}  // namespace contorno
