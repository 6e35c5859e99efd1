#include "stages/mipmap_light.h"

#include <algorithm>
#include <cmath>

namespace contorno {
namespace {

double decode(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}

double encode_curve(double light) {
  return 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

void fill_cells(LightTables& tables) {
  // threshold[k]: the least integer light whose nearest code is k.
  int threshold[257];
  for (int k = 1; k < 256; ++k) threshold[k] = static_cast<int>(std::ceil(65535 * decode((k - 0.5) / 255)));
  threshold[0] = 0, threshold[256] = 1 << 17;
  int code = 0;
  for (int cell = 0; cell < kLightCells; ++cell) {
    while (threshold[code + 1] <= 16 * cell) ++code;
    const int step = std::min(16, threshold[code + 1] - 16 * cell);
    tables.cells[cell] = {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(step)};
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

}  // namespace

void make_light_tables(LightTables& tables) {
  for (int code = 0; code < 256; ++code) {
    const double light = 65535 * decode(code / 255.0);
    tables.whole[code] = static_cast<std::uint16_t>(std::floor(light + 0.5));
    tables.light8[code] = static_cast<float>(light);
  }
  for (int code = 0; code < 65536; ++code)
    tables.light16[code] = static_cast<float>(65535 * decode(code / 65535.0));
  fill_cells(tables);
  fill_lines(tables);
}

}  // namespace contorno
