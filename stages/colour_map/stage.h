// Colour map: a picture of one number a pixel, as of heights: the table says which colour which value has.
//
// Input: an image or class maps of any number type. Integer samples are 0 to 1 (v / 255, v / 65535).
//
// Output: uint8 RGB, interleaved, of the same size and place on the frame.
//
// Memory: none but the table.
//
// Both backends give the same bits, because ColourTable is all of the arithmetic: + - * / and comparisons on
// float64.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/host_device.h"
#include "pipeline/graph/stage.h"

namespace contorno {

struct ColourMapParams {
  std::string colours =
      "0 #0b2a5b, 0.4 #2f7fb8, 0.42 #e3d3a0, 0.45 #7fb069, 0.65 #2f6b3a, 0.72 #7d6b5a, 0.85 #a39b93, "
      "0.9 #ffffff";
  bool blend = true;
  int channel = 0;
};

/// A point of the table: the colour of a value.
struct ColourStop {
  double value = 0;
  Colour colour;
};

inline constexpr int kMaxColourStops = 256;

/// The points of the parameter `colours`, "0 #0000ff, 0.5 #ffffff": 1 to kMaxColourStops, values ascending;
/// two that are equal make a sharp edge. Throws Error(BadOption).
std::vector<ColourStop> parse_colour_stops(std::string_view text);

/// From a value to its colour. Borrows the points.
struct ColourTable {
  const ColourStop* stops = nullptr;
  int count = 0;
  bool blend = true;

  /// Below the first point its colour, from the last one on that one's, between two a blend of both; without
  /// `blend` the colour of the last point that is not above the value. NaN is black.
  CONTORNO_HD void operator()(double value, std::uint8_t* rgb) const {
    if (!(value == value)) {
      rgb[0] = rgb[1] = rgb[2] = 0;
      return;
    }
    int next = 0;  // the first point above the value
    for (int end = count; next < end;) {
      const int middle = (next + end) / 2;
      if (stops[middle].value <= value)
        next = middle + 1;
      else
        end = middle;
    }
    const ColourStop& low = stops[next > 0 ? next - 1 : 0];
    const ColourStop& high = stops[next < count ? next : count - 1];
    const bool between = blend && next > 0 && next < count;
    const double part = between ? (value - low.value) / (high.value - low.value) : 0;
    rgb[0] = mixed(low.colour.red, high.colour.red, part);
    rgb[1] = mixed(low.colour.green, high.colour.green, part);
    rgb[2] = mixed(low.colour.blue, high.colour.blue, part);
  }

 private:
  /// A byte of a blend, rounded to the nearest, halves up.
  CONTORNO_HD static std::uint8_t mixed(std::uint8_t low, std::uint8_t high, double part) {
    const double step = static_cast<double>(high) - static_cast<double>(low);
    return static_cast<std::uint8_t>(static_cast<int>(static_cast<double>(low) + part * step + 0.5));
  }
};

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_colour_map_cuda(const ParamSet& params);

const StageType& colour_map_stage();

}  // namespace contorno
