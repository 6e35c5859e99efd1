// References for the mipmap chain, written differently from it: areas by counting sub-pixels, filters by
// their definition in double, sRGB by its formula.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/value/levels.h"
#include "stages/mipmap/chain.h"
#include "tests/stages/compare_images.h"
#include "tests/stages/harness.h"

namespace contorno::test {

template <class T>
TestImage random_image(int width, int height, int channels, std::uint64_t seed, std::size_t row_extra = 0,
                       Layout layout = Layout::Interleaved) {
  Random random(seed);
  const ElementType type = sizeof(T) == 1   ? ElementType::U8
                           : sizeof(T) == 2 ? ElementType::U16
                                            : ElementType::F32;
  return filled_image<T>(
      {.width = width, .height = height, .channels = channels, .type = type, .layout = layout},
      [&](int, int, int) -> double {
        if constexpr (sizeof(T) == 4) return random.unit();
        const int kind = random.below(8);
        const int full = sizeof(T) == 1 ? 255 : 65535;
        return kind == 0 ? 0 : kind == 1 ? full : random.below(full + 1);
      },
      row_extra);
}

template <class T>
T sample(const ImageView& view, int x, int y, int c) {
  return view.format.layout == Layout::Planar ? view.row<T>(y, c)[x]
                                              : view.row<T>(y)[x * view.format.channels + c];
}

/// Sum of `value(x, y)` over all sub-pixels of an output pixel, when each pixel is cut into out.width x
/// out.height of them: exact areas without a weight.
template <class F>
std::uint64_t sum_of_areas(const ImageFormat& in, const ImageFormat& out, int x, int y, const F& value) {
  std::uint64_t sum = 0;
  for (int v = y * in.height; v < (y + 1) * in.height; ++v)
    for (int u = x * in.width; u < (x + 1) * in.width; ++u) sum += value(u / out.width, v / out.height);
  return sum;
}
inline std::uint64_t rounded(std::uint64_t sum, std::uint64_t count) {
  return (2 * sum + count) / (2 * count);
}

template <class T>
int wrong_box_samples(const ImageView& in, const ImageView& out) {
  int wrong = 0;
  const auto count =
      static_cast<std::uint64_t>(in.format.width) * static_cast<std::uint64_t>(in.format.height);
  for (int y = 0; y < out.format.height; ++y)
    for (int x = 0; x < out.format.width; ++x)
      for (int c = 0; c < in.format.channels; ++c) {
        const auto sum = sum_of_areas(in.format, out.format, x, y,
                                      [&](int u, int v) -> std::uint64_t { return sample<T>(in, u, v, c); });
        wrong += sample<T>(out, x, y, c) != rounded(sum, count);
      }
  return wrong;
}

inline const std::vector<std::pair<int, int>> kSizes{{1, 1},   {2, 2},   {1, 37},  {37, 1},  {3, 2}, {64, 32},
                                                     {31, 63}, {66, 34}, {67, 41}, {12, 80}, {9, 17}};

/// All levels by the stage, one after the other, each into memory of its own.
inline std::vector<std::unique_ptr<StageHarness>> run_levels(const ImageView& in, Settings settings,
                                                             int count, int threads = 1) {
  std::vector<std::unique_ptr<StageHarness>> all;
  for (int level = 0; level < count; ++level) {
    Settings one = settings;
    one.emplace_back("level", std::int64_t{level});
    all.push_back(std::make_unique<StageHarness>(mipmap_stage(), one));
    all.back()->threads(threads).output_row_extra(5).run({in});
  }
  return all;
}

inline double srgb_to_light(double code) {
  return code <= 0.04045 ? code / 12.92 : std::pow((code + 0.055) / 1.055, 2.4);
}
inline double light_to_srgb(double light) {
  return light <= 0.0031308 ? light * 12.92 : 1.055 * std::pow(light, 1 / 2.4) - 0.055;
}

inline double definition(const std::string& filter, double t) {
  const double x = std::fabs(t), pi = std::numbers::pi;
  const auto sinc = [&](double v) { return v == 0 ? 1.0 : std::sin(pi * v) / (pi * v); };
  if (filter == "triangle") return std::max(0.0, 1 - x);
  if (filter == "lanczos3") return x < 3 ? sinc(x) * sinc(x / 3) : 0;
  if (filter == "kaiser")
    return x < 3
               ? sinc(x) * std::cyl_bessel_i(0.0, 4 * std::sqrt(1 - x * x / 9)) / std::cyl_bessel_i(0.0, 4.0)
               : 0;
  const double b = 1.0 / 3, c = 1.0 / 3;
  if (x < 1) return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + 6 - 2 * b) / 6;
  if (x < 2)
    return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + 8 * b + 24 * c) /
           6;
  return 0;
}

inline int outside(int i, int n, const std::string& edge) {
  if (edge == "clamp") return std::clamp(i, 0, n - 1);
  while (i < 0 || i >= n) {
    if (edge == "wrap")
      i += i < 0 ? n : -n;
    else
      i = i < 0 ? -1 - i : 2 * n - 1 - i;
  }
  return i;
}

/// A level by the definition of its filter, sums in double and in one pass over both axes.
template <class T, class F>
double by_definition(const TestImage& in, const std::string& filter, const std::string& edge, int x, int y,
                     int width, int height, const F& value) {
  const int n = in.view.format.width, m = in.view.format.height;
  const double step_x = 1.0 * n / width, step_y = 1.0 * m / height;
  double sum = 0, weight = 0;
  for (int v = static_cast<int>((y - 4) * step_y); v < (y + 5) * step_y; ++v) {
    const double down = definition(filter, (v + 0.5) / step_y - (y + 0.5));
    if (down == 0) continue;
    for (int u = static_cast<int>((x - 4) * step_x); u < (x + 5) * step_x; ++u) {
      const double w = down * definition(filter, (u + 0.5) / step_x - (x + 0.5));
      if (w != 0) sum += w * value(outside(u, n, edge), outside(v, m, edge)), weight += w;
    }
  }
  return sum / weight;
}

}  // namespace contorno::test
