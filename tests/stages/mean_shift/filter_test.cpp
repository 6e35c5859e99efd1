// The image filter against a brute force that is written differently, and its promises.
#include <doctest/doctest.h>

#include <cmath>

#include "base/error.h"
#include "stages/mean_shift/climber.h"
#include "stages/mean_shift/filter.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// Patches with noise, so that windows hold some of their pixels.
TestImage patches(int width, int height, int channels, std::size_t extra = 0, int noise = 24) {
  TestImage image({.width = width, .height = height, .channels = channels}, extra);
  Random random(5);
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x)
      for (int c = 0; c < channels; ++c)
        image.at<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>(std::clamp(
            (x / 9 * 67 + y / 7 * 41 + c * 83) % 256 + random.below(noise + 1) - noise / 2, 0, 255));
  return image;
}

double as_double(const TestImage& image, int x, int y, int c) {
  return image.at<std::uint8_t>(x, y, c);
}

/// As in the description of OpenCV's filter, pixel by pixel, in doubles.
std::vector<int> naive(const TestImage& image, int x, int y, int spatial, double colour, int most,
                       double eps) {
  const int width = image.view.format.width, height = image.view.format.height;
  const int channels = std::min(3, image.view.format.channels);
  double px = x, py = y;
  std::vector<double> c;
  for (int k = 0; k < channels; ++k) c.push_back(as_double(image, x, y, k));
  for (int step = 0; step < most; ++step) {
    double n = 0, sx = 0, sy = 0;
    std::vector<double> sum(c.size(), 0.0);
    for (int v = 0; v < height; ++v)
      for (int u = 0; u < width; ++u) {
        if (std::abs(u - px) > spatial || std::abs(v - py) > spatial) continue;
        double square = 0;
        for (int k = 0; k < channels; ++k)
          square += std::pow(as_double(image, u, v, k) - c[static_cast<std::size_t>(k)], 2);
        if (square > std::nearbyint(colour * colour)) continue;
        n += 1, sx += u, sy += v;
        for (int k = 0; k < channels; ++k) sum[static_cast<std::size_t>(k)] += as_double(image, u, v, k);
      }
    if (n == 0) break;
    const double r = 1.0 / n;
    const double nx = std::nearbyint(sx * r), ny = std::nearbyint(sy * r);
    double shift = std::abs(nx - px) + std::abs(ny - py);
    const bool stays = shift == 0;
    for (std::size_t k = 0; k < c.size(); ++k) {
      const double mean = std::nearbyint(sum[k] * r);
      shift += (mean - c[k]) * (mean - c[k]);
      c[k] = mean;
    }
    px = nx, py = ny;
    if (stays || shift <= eps) break;
  }
  return {c.begin(), c.end()};
}

Settings settings(int spatial, double colour, int most = 5, double eps = 1, const char* space = "rgb") {
  return {{"spatial", std::int64_t{spatial}},
          {"colour", colour},
          {"max_iterations", std::int64_t{most}},
          {"eps", eps},
          {"space", std::string(space)}};
}

}  // namespace

TEST_CASE("mean_shift_filter equals a brute force over all pixels") {
  struct Case {
    int width, height, channels, spatial;
    double colour;
    int most;
    double eps;
  };
  for (const Case& c :
       {Case{1, 1, 3, 4, 20, 5, 1}, Case{37, 23, 3, 4, 30, 5, 1}, Case{41, 19, 4, 17, 45, 5, 1},
        Case{70, 5, 1, 33, 12, 20, 0}, Case{5, 60, 3, 128, 255, 3, 1}, Case{33, 33, 3, 1, 0, 5, 1},
        Case{34, 18, 3, 8, 60.5, 100, 0}}) {
    const TestImage in = patches(c.width, c.height, c.channels, 5);
    StageHarness harness(mean_shift_filter_stage(), settings(c.spatial, c.colour, c.most, c.eps));
    harness.threads(2).output_row_extra(3).run({in.view});
    int wrong = 0;
    for (int y = 0; y < c.height; ++y)
      for (int x = 0; x < c.width; ++x) {
        const auto expected = naive(in, x, y, c.spatial, c.colour, c.most, c.eps);
        for (std::size_t k = 0; k < expected.size(); ++k)
          if (harness.at<std::uint8_t>(x, y, static_cast<int>(k)) != expected[k]) ++wrong;
        if (c.channels == 4 && harness.at<std::uint8_t>(x, y, 3) != in.at<std::uint8_t>(x, y, 3)) ++wrong;
      }
    CHECK(wrong == 0);
  }
}

TEST_CASE("window sums are the same on every path") {
  const TestImage in = patches(150, 40, 3);
  for (const auto& [space, spatial] : {std::pair{MeanShiftSpace::Rgb, 7},
                                       {MeanShiftSpace::Rgb, 8},
                                       {MeanShiftSpace::Rgb, 37},
                                       {MeanShiftSpace::Luv, 37},
                                       {MeanShiftSpace::Lab, 37}}) {
    const MeanShiftImagePlan plan = make_mean_shift_image_plan(
        "test", {.spatial = spatial, .colour = 40, .space = space}, in.view.format);
    const auto results = [&](Simd simd) {
      std::vector<std::uint16_t> scratch(ImageClimber::scratch_bytes(plan) / 2);
      ImageClimber climber(plan, simd);
      climber.load(in.view, scratch.data(), 1);
      std::vector<int> all;
      for (int y = 0; y < 40; y += 3)
        for (int x = 0; x < 150; x += 2) {
          const ShiftEnd end = climber.climb(x, y);
          all.insert(all.end(), {end.state.x, end.state.y, end.state.c[0], end.state.c[1], end.state.c[2],
                                 end.colour[0], end.colour[1], end.colour[2]});
        }
      return all;
    };
    const auto expected = results(Simd::Portable);
    for (const Simd simd : {Simd::Avx2, Simd::Avx512})
      if (simd <= best_simd()) CHECK(results(simd) == expected);
  }
}

TEST_CASE("mean_shift_filter gives the same bytes for any number of threads and any stride") {
  for (const char* space : {"rgb", "luv", "lab"})
    for (const int channels : {1, 3, 4}) {
      const TestImage tight = patches(53, 31, channels), loose = patches(53, 31, channels, 7);
      StageHarness one(mean_shift_filter_stage(), settings(5, 25, 5, 1, space));
      one.run({tight.view});
      for (const int threads : {2, 3}) {
        StageHarness many(mean_shift_filter_stage(), settings(5, 25, 5, 1, space));
        many.threads(threads).output_row_extra(9).run({loose.view});
        CHECK(many.bytes() == one.bytes());
      }
    }
}

TEST_CASE("the perceptual components are those of CIE within the rounding") {
  // Reference values of the CIE formulas for sRGB (D65): L, a, b, u, v.
  const struct {
    std::uint8_t red, green, blue;
    double lab[3], luv[3];
  } colours[] = {{255, 255, 255, {100, 0, 0}, {100, 0, 0}},
                 {0, 0, 0, {0, 0, 0}, {0, 0, 0}},
                 {255, 0, 0, {53.24, 80.09, 67.20}, {53.24, 175.01, 37.76}},
                 {0, 255, 0, {87.73, -86.18, 83.18}, {87.73, -83.08, 107.40}},
                 {0, 0, 255, {32.30, 79.19, -107.86}, {32.30, -9.40, -130.34}}};
  const auto table = srgb_decode_table();
  for (const auto& colour : colours) {
    const auto near = [&](MeanShiftSpace space, const double* values, const double* shift, double scale) {
      const ShiftColours convert{.space = space, .decode = table.data()};
      const std::uint32_t place = convert.place(colour.red, colour.green, colour.blue);
      for (int k = 0; k < 3; ++k)
        CHECK(std::abs((place >> (8 * k) & 255U) - (values[k] + shift[k]) * scale) < 0.6);
    };
    const double lab[] = {0, 87, 108.5}, luv[] = {0, 84, 135};
    near(MeanShiftSpace::Lab, colour.lab, lab, 1.25);
    near(MeanShiftSpace::Luv, colour.luv, luv, 0.98);
  }
}

TEST_CASE("an edge higher than the colour distance stays and noise below it goes") {
  TestImage in({.width = 60, .height = 40, .channels = 3});
  Random random(9);
  for (int y = 0; y < 40; ++y)
    for (int x = 0; x < 60; ++x)
      for (int c = 0; c < 3; ++c)
        in.at<std::uint8_t>(x, y, c) = static_cast<std::uint8_t>((x < 30 ? 60 : 160) + random.below(9) - 4);
  for (const char* space : {"rgb", "luv", "lab"}) {
    StageHarness harness(mean_shift_filter_stage(), settings(8, 20, 20, 0, space));
    harness.run({in.view});
    for (int y = 0; y < 40; ++y)
      for (int x = 0; x < 60; ++x) {
        const int value = harness.at<std::uint8_t>(x, y);
        CHECK(std::abs(value - (x < 30 ? 60 : 160)) <= 2);
      }
  }
}

TEST_CASE("mean_shift_filter refuses what is no 8-bit image") {
  TestImage maps({.width = 4, .height = 4, .channels = 3, .type = ElementType::F32});
  StageHarness harness(mean_shift_filter_stage(), {});
  CHECK_THROWS_WITH_AS(
      harness.run({maps.view}),
      "mean_shift_filter: the input is 4x4x3 float32 interleaved, allowed 1, 3 or 4 interleaved "
      "channels of uint8; a stage preprocess with output: uint8 before it makes uint8 of samples from 0 to 1",
      Error);
}
