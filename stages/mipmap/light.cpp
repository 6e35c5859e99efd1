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
  tables.to_light = find_light_parabolas();
  for (int code = 0; code < 256; ++code) tables.whole32[code] = light32_by_parabolas(tables.to_light, code);
  tables.to_code = find_code_parabolas();
  for (std::uint32_t cell = 0; cell < kLightCells; ++cell) {
    LightCell& to = tables.cells[cell];
    const auto code = [&](std::uint32_t i) { return code_by_parabolas(tables.to_code, 16 * cell + i); };
    to.code = code(0);
    for (to.step = 1; to.step < 16 && code(to.step) == to.code;) ++to.step;
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

void fill(LightTables& tables) {
  for (int code = 0; code < 256; ++code) {
    const double light = 65535 * linear_from_srgb(code / 255.0);
    tables.whole[code] = static_cast<std::uint16_t>(std::floor(light + 0.5));
    tables.light8[code] = static_cast<float>(light);
  }
  for (int code = 0; code < 65536; ++code)
    tables.light16[code] = static_cast<float>(65535 * linear_from_srgb(code / 65535.0));
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
