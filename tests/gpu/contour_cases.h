// Random and adversarial maps for the contour engines, and the comparison of what comes out, bit for bit,
// with the naive reference.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "stages/contours/cuda/engine.h"
#include "tests/gpu/contour_reference.h"

namespace contorno::testing {

struct Case {
  std::string name;
  ContourEngineSpec spec;
  std::vector<unsigned char> samples;  ///< samples of the map, with these pitches
  std::ptrdiff_t row_pitch = 0, plane_pitch = 0;
  std::vector<std::uint8_t> mask;  ///< width * height, or empty
};

inline std::uint16_t to_half(float value) {
  // Round to nearest even; enough for test data.
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7E00);
  const float magnitude = std::fabs(value);
  if (magnitude >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (magnitude < 6.103515625e-5F)
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::nearbyint(magnitude * 16777216.0F)));
  int exponent = 0;
  const float mantissa = std::frexp(magnitude, &exponent);  // 0.5 .. 1
  int m = static_cast<int>(std::nearbyint(mantissa * 2048.0F));
  if (m == 2048) m = 1024, ++exponent;
  return static_cast<std::uint16_t>(sign | (exponent + 14) << 10 | (m - 1024));
}

inline double from_half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int mantissa = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  if (exponent == 31) return mantissa != 0 ? std::nan("") : sign * INFINITY;
  return exponent == 0 ? sign * std::ldexp(mantissa, -24) : sign * std::ldexp(mantissa + 1024, exponent - 25);
}

inline void write_sample(ElementType type, unsigned char* at, double value) {
  switch (type) {
    case ElementType::U8:
      *at = static_cast<unsigned char>(std::isnan(value) ? 0.0
                                                         : std::min(std::max(std::rint(value), 0.0), 255.0));
      return;
    case ElementType::U16: {
      const auto v = static_cast<std::uint16_t>(
          std::isnan(value) ? 0.0 : std::min(std::max(std::rint(value), 0.0), 65535.0));
      std::memcpy(at, &v, 2);
      return;
    }
    case ElementType::F16: {
      const std::uint16_t v = to_half(static_cast<float>(value));
      std::memcpy(at, &v, 2);
      return;
    }
    case ElementType::F32: {
      const auto v = static_cast<float>(value);
      std::memcpy(at, &v, 4);
      return;
    }
    case ElementType::F64:
      std::memcpy(at, &value, 8);
      return;
  }
}

inline double read_sample_value(ElementType type, const unsigned char* at) {
  switch (type) {
    case ElementType::U8:
      return *at;
    case ElementType::U16: {
      std::uint16_t v = 0;
      std::memcpy(&v, at, 2);
      return v;
    }
    case ElementType::F16: {
      std::uint16_t v = 0;
      std::memcpy(&v, at, 2);
      return from_half(v);
    }
    case ElementType::F32: {
      float v = 0;
      std::memcpy(&v, at, 4);
      return v;
    }
    case ElementType::F64: {
      double v = 0;
      std::memcpy(&v, at, 8);
      return v;
    }
  }
  return 0;
}

inline std::size_t sample_offset(const Case& c, int plane, int row, int col) {
  const ImageFormat& map = c.spec.map;
  const auto size = static_cast<std::ptrdiff_t>(element_size(map.type));
  const std::ptrdiff_t at =
      map.layout == Layout::Planar
          ? plane * c.plane_pitch + row * c.row_pitch + col * size
          : row * c.row_pitch + (static_cast<std::ptrdiff_t>(col) * map.channels + plane) * size;
  return static_cast<std::size_t>(at);
}

/// Sets pitches (odd strides now and then) and reserves the samples, NaN or 255 in the padding.
inline void allocate(Case& c, std::mt19937_64& random) {
  const ImageFormat& map = c.spec.map;
  const auto size = static_cast<std::ptrdiff_t>(element_size(map.type));
  c.row_pitch =
      static_cast<std::ptrdiff_t>(map.row_bytes()) + static_cast<std::ptrdiff_t>(random() % 3) * size;
  c.plane_pitch = c.row_pitch * map.height + static_cast<std::ptrdiff_t>(random() % 2) * 8 * size;
  c.samples.assign(static_cast<std::size_t>(map.planes()) * static_cast<std::size_t>(c.plane_pitch), 0xFF);
}

/// Values of one plane in "natural" units; `kind` chooses the family.
inline std::vector<double> make_plane(int kind, int width, int height, double level,
                                      std::mt19937_64& random) {
  const auto n = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  std::vector<double> v(n);
  std::normal_distribution<double> normal;
  const auto at = [&](int r, int c) -> double& {
    return v[static_cast<std::size_t>(r) * static_cast<std::size_t>(width) + static_cast<std::size_t>(c)];
  };
  switch (kind) {
    case 0:  // white noise
      for (double& x : v) x = level + normal(random);
      break;
    case 1: {  // smooth waves
      double a = 0.05 + 0.4 * static_cast<double>(random() % 100) / 100;
      double b = 0.05 + 0.4 * static_cast<double>(random() % 100) / 100;
      double p = static_cast<double>(random() % 100);
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c)
          at(r, c) = level + std::sin(a * r + p) * std::cos(b * c + 2 * p) +
                     0.3 * std::sin(0.31 * a * c - 0.2 * b * r);
      break;
    }
    case 2:  // small integers around the level: ties everywhere
    {
      const int span = 1 + static_cast<int>(random() % 5);
      for (double& x : v)
        x = level + static_cast<double>(random() % static_cast<unsigned>(2 * span + 1)) - span;
      break;
    }
    case 3:  // checkerboard
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) at(r, c) = level + ((r + c) % 2 == 0 ? 1.0 : -1.0);
      break;
    case 4:  // two values, one of them the level
      for (double& x : v) x = random() % 2 == 0 ? level : level + 1;
      break;
    case 5:  // fractions that round onto samples
      for (double& x : v) {
        const double tiny[] = {1e-17, -1e-17, 1e-13, -1e-13, 1, -1, 1e30, -1e30, 0, 0.25};
        x = level + tiny[random() % 10];
      }
      break;
    case 6:  // infinities
      for (double& x : v) {
        x = level + normal(random);
        if (random() % 5 == 0) x = random() % 2 == 0 ? INFINITY : -INFINITY;
      }
      break;
    case 7:  // spiral: one long chain through all tiles
      for (double& x : v) x = level - 1;
      for (int ring = 0, r = 1, c = 1, dr = 0, dc = 1; ring < width + height; ++ring) {
        const int limit = std::max(width, height);
        for (int step = 0; step < limit; ++step) {
          if (r < 0 || r >= height || c < 0 || c >= width) break;
          at(r, c) = level + 1;
          const int r2 = r + 2 * dr;
          const int c2 = c + 2 * dc;
          if (r2 < 1 || r2 >= height - 1 || c2 < 1 || c2 >= width - 1 || at(r2, c2) > level) break;
          r += dr, c += dc;
        }
        const int t = dr;
        dr = dc;
        dc = -t;
      }
      break;
    case 8:  // comb: long teeth
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) at(r, c) = level + (c % 2 == 0 || r == height / 2 ? 1.0 : -0.5);
      break;
    case 9:  // mostly flat with sparse highs at the level and above
      for (double& x : v) x = random() % 16 == 0 ? level + 1 : (random() % 8 == 0 ? level : level - 1);
      break;
    case 10:  // noise, but a comb in every third tile: many short pieces and few very long ones
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) {
          const bool inside = r % 32 > 2 && r % 32 < 30 && c % 64 > 2 && c % 64 < 62;
          const double comb = inside && (c % 2 == 0 || r % 32 == 16) ? 1.0 : -0.5;
          at(r, c) = level + ((r / 32 + c / 64) % 3 == 0 ? comb : normal(random));
        }
      break;
    default:  // slope with steps exactly on the level
      for (int r = 0; r < height; ++r)
        for (int c = 0; c < width; ++c) at(r, c) = level + std::floor((r - c + 3 * std::sin(0.2 * c)) / 4);
      break;
  }
  return v;
}
inline constexpr int kPlaneKinds = 12;

inline Case make_case(std::uint64_t seed, int largest_side) {
  std::mt19937_64 random(seed * 0x9E3779B97F4A7C15ULL + 1);
  Case c;
  const auto pick = [&](int low, int high) {
    return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
  };
  ImageFormat& map = c.spec.map;
  const int shape = pick(0, 9);
  const int small = std::min(largest_side, 12);
  map.width = shape < 4 ? pick(1, small) : pick(1, largest_side);
  map.height = shape < 4 ? pick(1, small) : pick(1, largest_side);
  if (shape == 9) (random() % 2 == 0 ? map.width : map.height) = pick(1, 2);
  const int tile_edges[] = {63, 64, 65, 66, 128, 129, 130, 32, 33, 34, 97};
  if (shape == 8) {
    map.width = std::min(largest_side, tile_edges[random() % 11]);
    map.height = std::min(largest_side, tile_edges[random() % 11]);
  }
  map.channels = pick(1, 3);
  map.type = static_cast<ElementType>(pick(0, 4));
  map.layout = random() % 3 == 0 ? Layout::Interleaved : Layout::Planar;
  const int kind = pick(0, kPlaneKinds - 1);
  c.spec.connectivity = random() % 2 == 0 ? Connectivity::Low : Connectivity::High;
  c.spec.orientation = random() % 2 == 0 ? Orientation::Low : Orientation::High;
  c.spec.min_points = random() % 4 == 0 ? static_cast<unsigned>(pick(2, 12)) : 0;
  const bool integer = map.type == ElementType::U8 || map.type == ElementType::U16;
  const double levels[] = {0.0, 0.5, 0.1, 1.0, -3.0, 1000.0 / 7, 0.30000001192092896};
  double level = levels[random() % 7];
  if (integer) level = random() % 2 == 0 ? 128.0 : 127.5;
  const double scale = integer ? 20 : (random() % 3 == 0 ? 1e-3 : 1);
  if (random() % 40 == 0) level = random() % 2 == 0 ? -INFINITY : NAN;
  const double centre = std::isfinite(level) ? level : 0.0;
  const int distinct = pick(1, map.channels);
  for (int k = 0; k < distinct; ++k) c.spec.levels.push_back(k == 0 ? level : level + 0.25 * k);
  allocate(c, random);
  const bool holes = random() % 3 == 0;
  for (int plane = 0; plane < map.channels; ++plane) {
    std::vector<double> v = make_plane(kind, map.width, map.height, 0.0, random);
    std::size_t i = 0;
    for (int row = 0; row < map.height; ++row)
      for (int col = 0; col < map.width; ++col, ++i) {
        double x = centre + scale * v[i];
        if (holes && random() % 12 == 0) x = NAN;
        write_sample(map.type, c.samples.data() + sample_offset(c, plane, row, col), x);
      }
  }
  if (random() % 5 == 0) {
    c.mask.resize(static_cast<std::size_t>(map.width) * static_cast<std::size_t>(map.height));
    for (std::uint8_t& m : c.mask) m = random() % 10 != 0;
  }
  c.spec.points = random() % 2 == 0 ? ContourEngineSpec::Points::Float32 : ContourEngineSpec::Points::Float64;
  const std::uint64_t cells = 2ULL * static_cast<std::uint64_t>(map.width) *
                              static_cast<std::uint64_t>(map.height) *
                              static_cast<std::uint64_t>(map.channels);
  c.spec.point_capacity = 2 * cells + 4;
  c.spec.contour_capacity = cells + 4;
  c.name = "seed " + std::to_string(seed) + " kind " + std::to_string(kind) + " " + describe(map) +
           " level " + std::to_string(level);
  return c;
}

/// A map whose channels have several levels each.
inline Case make_level_case(std::uint64_t seed, int largest_side) {
  Case c = make_case(seed, largest_side);
  const bool integer = c.spec.map.type == ElementType::U8 || c.spec.map.type == ElementType::U16;
  const double level = c.spec.levels[0], step = integer ? 10 : 0.25;
  c.spec.levels.clear();
  for (int k = 0; k < c.spec.map.channels; ++k) {
    c.spec.channel_levels.push_back(1 + (static_cast<int>(seed % 100) + k) % 4);
    for (int i = 0; i < c.spec.channel_levels.back(); ++i) c.spec.levels.push_back(level + (i - 1) * step);
  }
  c.spec.point_capacity = c.spec.contour_capacity = 4ULL * static_cast<std::uint64_t>(c.spec.map.width) *
                                                    static_cast<std::uint64_t>(c.spec.map.height) *
                                                    c.spec.levels.size();
  c.name += " at " + std::to_string(c.spec.levels.size()) + " levels";
  return c;
}

/// The channel of each plane.
inline std::vector<int> plane_channels(const ContourEngineSpec& spec) {
  std::vector<int> channels;
  for (int k = 0; k < spec.map.channels; ++k)
    channels.insert(channels.end(),
                    spec.channel_levels.empty()
                        ? 1
                        : static_cast<std::size_t>(spec.channel_levels[static_cast<std::size_t>(k)]),
                    k);
  return channels;
}

/// What an engine returned, in host memory.
struct Result {
  std::uint64_t points = 0, contours = 0;
  std::vector<std::pair<double, double>> at;
  std::vector<std::uint32_t> offsets, class_begin;
  std::vector<std::uint8_t> closed;
};

inline Result reference_result(const Case& c) {
  Result result;
  const ImageFormat& map = c.spec.map;
  result.offsets.push_back(0);
  const std::vector<int> channels = plane_channels(c.spec);
  for (std::size_t plane = 0; plane < channels.size(); ++plane) {
    result.class_begin.push_back(static_cast<std::uint32_t>(result.contours));
    reference::Field field{map.height, map.width, {}};
    for (int row = 0; row < map.height; ++row)
      for (int col = 0; col < map.width; ++col) {
        const std::size_t i = static_cast<std::size_t>(row) * static_cast<std::size_t>(map.width) +
                              static_cast<std::size_t>(col);
        const bool used = c.mask.empty() || c.mask[i] != 0;
        field.values.push_back(
            used ? read_sample_value(map.type, c.samples.data() + sample_offset(c, channels[plane], row, col))
                 : NAN);
      }
    const double level = c.spec.levels[plane % c.spec.levels.size()];
    for (const reference::Contour& contour :
         reference::find_contours(field, level, c.spec.connectivity == Connectivity::High,
                                  c.spec.orientation == Orientation::High)) {
      if (contour.points.size() < c.spec.min_points) continue;
      for (auto [row, col] : contour.points)
        result.at.push_back(c.spec.points == ContourEngineSpec::Points::Float32
                                ? std::pair<double, double>{static_cast<float>(row), static_cast<float>(col)}
                                : std::pair<double, double>{row, col});
      result.closed.push_back(contour.closed ? 1 : 0);
      ++result.contours;
      result.offsets.push_back(static_cast<std::uint32_t>(result.at.size()));
    }
  }
  result.class_begin.push_back(static_cast<std::uint32_t>(result.contours));
  result.points = result.at.size();
  return result;
}

inline bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// Empty if equal, else what differs first.
inline std::string difference(const Result& got, const Result& want) {
  if (got.points != want.points || got.contours != want.contours)
    return "got " + std::to_string(got.points) + " points in " + std::to_string(got.contours) +
           " contours, want " + std::to_string(want.points) + " in " + std::to_string(want.contours);
  if (got.class_begin != want.class_begin) return "class_begin differs";
  if (got.offsets != want.offsets) return "offsets differ";
  if (got.closed != want.closed) return "closed flags differ";
  for (std::size_t i = 0; i < want.at.size(); ++i)
    if (!same_bits(got.at[i].first, want.at[i].first) || !same_bits(got.at[i].second, want.at[i].second))
      return "point " + std::to_string(i) + " is (" + std::to_string(got.at[i].first) + ", " +
             std::to_string(got.at[i].second) + "), want (" + std::to_string(want.at[i].first) + ", " +
             std::to_string(want.at[i].second) + ")";
  return {};
}

}  // namespace contorno::testing
