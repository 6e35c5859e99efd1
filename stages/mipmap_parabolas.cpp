// The numbers of LightParabolas, found by trying: from the parabola of least squares outwards until one gives
// all 16 lights of its codes.
#include "cuda/error.h"
#include "stages/mipmap_light.h"

namespace contorno {
namespace {

/// Of every code from 15 on. One of the few with which all segments have a parabola.
constexpr int kFraction = 223;
constexpr int kSegment = 16;  // codes

struct Parabola {
  int constant = 0, slope = 0, curve = 0;
};

/// What is added to the constant, or -1 where the chord does not fit into 16 bits.
int rise(const Parabola& parabola, int code, int fraction) {
  const int x = (512 * code & 0xFFFF) + fraction;
  const int chord = parabola.slope + (parabola.curve * x >> 16);
  if (chord < 0 || chord > 0xFFFF) return -1;
  return static_cast<int>(static_cast<std::uint32_t>(chord) * static_cast<std::uint32_t>(x) >> 16);
}

/// Whether a constant makes all lights of the segment exact; sets it.
bool find_constant(const std::uint16_t* whole, int segment, Parabola& parabola) {
  const int first = kSegment * segment;
  parabola.constant = whole[first] - rise(parabola, first, kFraction);
  for (int code = first; code < first + kSegment; ++code) {
    const int risen = rise(parabola, code, kFraction);
    if (risen < 0 || parabola.constant + risen != whole[code]) return false;
  }
  return true;
}

Parabola least_squares(const std::uint16_t* whole, int segment, double middle) {
  double sums[3] = {}, squares = 0, fourths = 0;  // over u = -7.5 ... 7.5
  for (int i = 0; i < kSegment; ++i) {
    const double u = i - 7.5, light = whole[kSegment * segment + i] + 0.5;
    sums[0] += light, sums[1] += u * light, sums[2] += u * u * light;
    squares += u * u, fourths += u * u * u * u;
  }
  const double bend = (kSegment * sums[2] - squares * sums[0]) / (kSegment * fourths - squares * squares);
  const double slope = sums[1] / squares - 2 * bend * middle;
  return {.slope = static_cast<int>(128 * slope), .curve = static_cast<int>(16384 * bend)};
}

Parabola find_parabola(const std::uint16_t* whole, int segment) {
  // Where the segment's middle lies, in codes, as x knows it: modulo 128.
  const double middle = kSegment * segment % 128 + 7.5 + kFraction / 512.0;
  const Parabola start = least_squares(whole, segment, middle);
  const auto outwards = [](int i) { return i % 2 == 0 ? i / 2 : -(i + 1) / 2; };
  for (int i = 0; i < start.curve / 4; ++i) {
    Parabola parabola{.curve = start.curve + outwards(i)};
    const int slope = start.slope - static_cast<int>(outwards(i) * middle / 64);  // the same in the middle
    for (int k = 0; k < 80; ++k) {
      parabola.slope = slope + outwards(k);
      if (find_constant(whole, segment, parabola)) return parabola;
    }
  }
  throw InternalError("mipmap: a segment of sRGB without its parabola");
}

/// Segment 0, which begins as a line: codes below 15 bend it by fractions of their own.
bool find_fractions(const std::uint16_t* whole, Parabola& parabola, std::uint8_t* fractions) {
  fractions[15] = kFraction;
  parabola.constant = whole[15] - rise(parabola, 15, kFraction);
  for (int code = 0; code < 15; ++code) {
    int low = 0, high = 255;
    while (low < high) {
      const int half = (low + high) / 2;
      if (parabola.constant + rise(parabola, code, half) < whole[code])
        low = half + 1;
      else
        high = half;
    }
    if (parabola.constant + rise(parabola, code, low) != whole[code]) return false;
    fractions[code] = static_cast<std::uint8_t>(low);
  }
  return true;
}

Parabola find_toe(const std::uint16_t* whole, std::uint8_t* fractions) {
  for (int curve = 0; curve < 4096; ++curve)
    for (int slope = 128 * 20; slope < 128 * 22; ++slope) {
      Parabola parabola{.slope = slope, .curve = curve};
      if (find_fractions(whole, parabola, fractions)) return parabola;
    }
  throw InternalError("mipmap: the toe of sRGB without its parabola");
}

}  // namespace

LightParabolas find_light_parabolas(const std::uint16_t* whole) {
  LightParabolas found{};
  for (int segment = 0; segment < 16; ++segment) {
    const Parabola one = segment == 0 ? find_toe(whole, found.fractions) : find_parabola(whole, segment);
    for (int byte = 0; byte < 2; ++byte) {
      found.constants[byte][segment] = static_cast<std::uint8_t>(one.constant >> 8 * byte & 255);
      found.slopes[byte][segment] = static_cast<std::uint8_t>(one.slope >> 8 * byte & 255);
      found.curves[byte][segment] = static_cast<std::uint8_t>(one.curve >> 8 * byte & 255);
    }
  }
  return found;
}

}  // namespace contorno
