// The numbers of LightParabolas and CodeParabolas: least squares or Chebyshev points first, and then whole
// numbers around them, those with the smallest of the greatest errors.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "cuda/error.h"
#include "stages/mipmap/light.h"

namespace contorno {
namespace {

struct Parabola {
  int constant = 0, slope = 0, curve = 0;
};
struct Fit {
  Parabola parabola;
  double error = std::numeric_limits<double>::infinity();
};

void put(int number, std::size_t entry, std::uint8_t (&bytes)[2][16]) {
  bytes[0][entry] = static_cast<std::uint8_t>(number & 255);
  bytes[1][entry] = static_cast<std::uint8_t>(number >> 8 & 255);
}
int at(const std::uint8_t (&bytes)[2][16], std::size_t entry) {
  return bytes[0][entry] | bytes[1][entry] << 8;
}

// To light.
// -------------------------------------------------------------------------------------------------------

constexpr int kSegment = 16;  // codes
using Wanted = std::array<double, kSegment>;

void put_slope(int slope, std::size_t segment, LightParabolas& found) {
  found.slopes[0][segment] = static_cast<std::uint8_t>(slope % 128);
  found.slopes[1][segment] = static_cast<std::uint8_t>(slope / 128);
}

/// Second differences are 1.
constexpr int square(int n) {
  return (n - 7) * (n - 8) / 2;
}

/// 32nds of light, and one half.
Wanted wanted_of(int segment) {
  Wanted wanted;
  for (int n = 0; n < kSegment; ++n)
    wanted[static_cast<std::size_t>(n)] =
        32 * (65535 * linear_from_srgb((kSegment * segment + n) / 255.0) + 0.5);
  return wanted;
}

/// The constant that is best for a slope and a curve.
void try_constant(const Wanted& wanted, Parabola parabola, Fit& best) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int n = 0; n < kSegment; ++n) {
    const double rest = wanted[static_cast<std::size_t>(n)] - parabola.slope * n - parabola.curve * square(n);
    low = std::min(low, rest), high = std::max(high, rest);
  }
  parabola.constant = static_cast<int>(std::lround((low + high) / 64));
  const double error = std::max(high - 32 * parabola.constant, 32 * parabola.constant - low);
  if (parabola.constant >= 0 && error < best.error) best = {parabola, error};
}

Fit fit_segment(const Wanted& wanted) {
  const double bend = ((wanted[15] - wanted[14]) - (wanted[1] - wanted[0])) / 14;
  const auto curve = static_cast<int>(std::lround(bend));
  const auto slope = static_cast<int>(std::lround((wanted[15] - wanted[0]) / 15));
  Fit best;
  for (int i = -6; i <= 6; ++i)
    for (int k = -40; k <= 40; ++k)
      try_constant(wanted, {.slope = slope + k, .curve = std::clamp(curve + i, 0, 255)}, best);
  return best;
}

/// Segment 0 begins as a line, to which `toe` adds what is missing in whole lights.
void fill_toe(LightParabolas& found) {
  const Wanted wanted = wanted_of(0);
  Fit best;
  for (int curve = 0; curve < 2; ++curve)
    for (int slope = 512; slope < 640; ++slope) {
      const auto rest = [&](int n) {
        return wanted[static_cast<std::size_t>(n)] - slope * n - curve * square(n);
      };
      std::array<std::uint8_t, kSegment> toe{};
      double error = 0;
      for (int n = 0; n < kSegment; ++n) {
        const auto lights = n == 0 ? 0 : std::max(0L, std::lround(rest(n) / 32));
        toe[static_cast<std::size_t>(n)] = static_cast<std::uint8_t>(lights);
        error = std::max(error, std::fabs(rest(n) - 32.0 * static_cast<double>(lights)));
      }
      if (error >= best.error) continue;
      best = {{.slope = slope, .curve = curve}, error};
      std::ranges::copy(toe, found.toe);
    }
  put_slope(best.parabola.slope, 0, found);
  found.curves[0] = static_cast<std::uint8_t>(best.parabola.curve);
}

// Back to codes.
// -------------------------------------------------------------------------------------------------------

/// Lights from `begin` on; `scale` makes their x: begin and end lie in one block of 65536 / scale lights.
struct Segment {
  int begin, scale;
};
/// Half octaves but for the darkest ones, and that from 4096 to 8192, whose lights share one entry of
/// `bright`.
constexpr Segment kSegments[17] = {{0, 128},   {256, 128}, {512, 128}, {1024, 64},  {1536, 64}, {2048, 32},
                                   {3072, 32}, {4096, 16}, {8192, 16}, {12288, 16}, {16384, 8}, {24576, 8},
                                   {32768, 4}, {40960, 4}, {49152, 4}, {57344, 4},  {65536, 0}};

/// Codes in 256ths, and one half, so that cutting off rounds.
double wanted_code(double light) {
  return 256 * (255 * srgb_from_linear(light / 65535) + 0.5);
}
int rise(const Parabola& parabola, std::uint32_t x) {
  const auto chord =
      static_cast<std::uint32_t>(parabola.slope) - (static_cast<std::uint32_t>(parabola.curve) * x >> 16);
  return static_cast<int>(chord * x >> 16);
}

/// The constant that is best for a slope and a curve.
void try_constant(int begin, int end, int scale, Parabola parabola, Fit& best) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (int light = begin; light < end; light += (end - begin) / 64) {
    const double rest =
        wanted_code(light) - 0.5 - rise(parabola, static_cast<std::uint32_t>(light * scale) & 0xFFFFU);
    low = std::min(low, rest), high = std::max(high, rest);
  }
  parabola.constant = static_cast<int>(std::lround((low + high) / 2));
  if ((high - low) / 2 < best.error) best = {parabola, (high - low) / 2};
}

/// Newton's form through three Chebyshev points, in units of x / 65536, and its neighbours.
Parabola fit_codes(int begin, int end, int scale) {
  double x[3], d[3];
  for (int k = 0; k < 3; ++k) {
    const double share = 0.5 - 0.5 * std::cos(std::numbers::pi * (2 * k + 1) / 6);
    const double light = begin + (end - begin) * share;
    x[k] = (begin * scale % 65536 + (light - begin) * scale) / 65536;
    d[k] = wanted_code(light);
  }
  const double first = (d[1] - d[0]) / (x[1] - x[0]), second = (d[2] - d[1]) / (x[2] - x[1]);
  const double bend = (second - first) / (x[2] - x[0]);
  const auto curve = static_cast<int>(std::lround(-bend));
  const auto slope = static_cast<int>(std::lround(first - bend * (x[0] + x[1])));
  Fit best;
  for (int i = -20; i <= 20; i += 5)
    for (int k = -4; k <= 4; ++k) {
      // The same slope in the middle.
      const auto turned = static_cast<int>(std::lround(2 * i * x[1]));
      try_constant(begin, end, scale, {.slope = slope + turned + k, .curve = std::max(0, curve + i)}, best);
    }
  return best.parabola;
}

}  // namespace

std::uint32_t light32_by_parabolas(const LightParabolas& parabolas, int code) {
  const auto segment = static_cast<std::size_t>(code / kSegment),
             n = static_cast<std::size_t>(code % kSegment);
  const int constant = at(parabolas.constants, segment) + (segment == 0 ? parabolas.toe[n] : 0);
  const int slope = parabolas.slopes[0][segment] + 128 * parabolas.slopes[1][segment];
  return static_cast<std::uint32_t>(32 * constant + slope * static_cast<int>(n) +
                                    parabolas.curves[segment] * parabolas.squares[n]);
}

LightParabolas find_light_parabolas() {
  LightParabolas found{};
  for (int n = 0; n < kSegment; ++n) found.squares[n] = static_cast<std::uint8_t>(square(n));
  fill_toe(found);
  for (int segment = 1; segment < 16; ++segment) {
    const Parabola one = fit_segment(wanted_of(segment)).parabola;
    const auto entry = static_cast<std::size_t>(segment);
    put(one.constant, entry, found.constants), put_slope(one.slope, entry, found);
    found.curves[entry] = static_cast<std::uint8_t>(one.curve);
  }
  for (int code = 0; code < 256; ++code) {
    const double light = 65535 * linear_from_srgb(code / 255.0) + 0.5;
    if (std::fabs(light32_by_parabolas(found, code) / 32.0 - light) > 0.6)
      throw InternalError("mipmap: a segment of sRGB without its parabola");
  }
  if (light32_by_parabolas(found, 0) >> 5 != 0 || light32_by_parabolas(found, 255) >> 5 != 65535)
    throw InternalError("mipmap: parabolas of sRGB without black or white");
  return found;
}

std::uint8_t code_by_parabolas(const CodeParabolas& parabolas, std::uint32_t light) {
  const std::uint32_t high = light >> 8;
  const std::size_t segment = high < 16 ? parabolas.dark[high] : parabolas.bright[high >> 4];
  const Parabola one{at(parabolas.constants, segment), at(parabolas.slopes, segment),
                     at(parabolas.curves, segment)};
  return static_cast<std::uint8_t>((one.constant + rise(one, light * parabolas.scales[segment] & 0xFFFFU)) >>
                                   8);
}

CodeParabolas find_code_parabolas() {
  CodeParabolas found{};
  for (std::size_t segment = 0; segment < 16; ++segment) {
    const auto [begin, scale] = kSegments[segment];
    const int end = kSegments[segment + 1].begin;
    const Parabola one = fit_codes(begin, end, scale);
    put(one.constant, segment, found.constants), put(one.slope, segment, found.slopes);
    put(one.curve, segment, found.curves);
    found.scales[segment] = static_cast<std::uint8_t>(scale);
    for (int block = begin; block < end; block += 256)
      (begin < 4096 ? found.dark[block / 256] : found.bright[block / 4096]) =
          static_cast<std::uint8_t>(segment);
  }
  return found;
}

}  // namespace contorno
