#include "stages/preprocess/stage.h"

#include <cmath>

#include "base/error.h"
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/segment.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

const std::string kGreyWord = "grey", kFloatWord = "float32";

TestImage random_bytes(int width, int height, int channels, std::uint64_t seed, std::size_t row_extra = 0) {
  Random random(seed);
  return filled_image<std::uint8_t>(
      {.width = width, .height = height, .channels = channels},
      [&](int, int, int) { return random.below(256); }, row_extra);
}

/// Area average by brute force: the overlap of every input pixel with the output pixel.
double area_reference(const TestImage& in, int x, int y, int c, int width, int height) {
  const double step_x = static_cast<double>(in.view.format.width) / width;
  const double step_y = static_cast<double>(in.view.format.height) / height;
  const auto overlap = [](double from, double step, int j) {
    return std::max(0.0, std::min(from + step, j + 1.0) - std::max(from, static_cast<double>(j)));
  };
  double sum = 0;
  for (int j = 0; j < in.view.format.height; ++j)
    for (int i = 0; i < in.view.format.width; ++i)
      sum += overlap(x * step_x, step_x, i) * overlap(y * step_y, step_y, j) * in.at<std::uint8_t>(i, j, c);
  return sum / (step_x * step_y);
}

double bilinear_reference(const TestImage& in, int x, int y, int c, int width, int height) {
  const auto at = [](int i, int size, int out) {
    return std::clamp((i + 0.5) * size / out - 0.5, 0.0, size - 1.0);
  };
  const int w = in.view.format.width, h = in.view.format.height;
  const double px = at(x, w, width), py = at(y, h, height);
  const int x0 = static_cast<int>(px), y0 = static_cast<int>(py);
  const int x1 = std::min(x0 + 1, w - 1), y1 = std::min(y0 + 1, h - 1);
  const double fx = px - x0, fy = py - y0;
  const auto v = [&](int i, int j) { return static_cast<double>(in.at<std::uint8_t>(i, j, c)); };
  return (1 - fy) * ((1 - fx) * v(x0, y0) + fx * v(x1, y0)) + fy * ((1 - fx) * v(x0, y1) + fx * v(x1, y1));
}

}  // namespace

TEST_CASE("preprocess without parameters copies the image") {
  const TestImage in = random_bytes(37, 11, 3, 1, 5);
  StageHarness harness(preprocess_stage(), {});
  harness.run({in.view});
  for (int y = 0; y < 11; ++y)
    for (int x = 0; x < 37; ++x)
      for (int c = 0; c < 3; ++c) CHECK(harness.at<std::uint8_t>(x, y, c) == in.at<std::uint8_t>(x, y, c));
  CHECK(harness.image().format == in.view.format);
}

TEST_CASE("preprocess shrinks by exact area averages") {
  for (const int channels : {1, 3, 4}) {
    const TestImage in = random_bytes(53, 31, channels, 2, 3);
    StageHarness harness(preprocess_stage(),
                         {{"size", std::vector<double>{17, 12}}, {"output", kFloatWord}, {"scale", 1.0}});
    harness.run({in.view});
    for (int y = 0; y < 12; ++y)
      for (int x = 0; x < 17; ++x)
        for (int c = 0; c < channels; ++c)
          CHECK(harness.at<float>(x, y, c) ==
                doctest::Approx(area_reference(in, x, y, c, 17, 12)).epsilon(1e-5));
  }
}

TEST_CASE("preprocess grows bilinearly with the outer edges in place") {
  const TestImage in = random_bytes(9, 7, 3, 3);
  StageHarness harness(preprocess_stage(), {{"size", std::vector<double>{40, 23}}});
  harness.run({in.view});
  for (int y = 0; y < 23; ++y)
    for (int x = 0; x < 40; ++x)
      for (int c = 0; c < 3; ++c)
        CHECK(std::abs(harness.at<std::uint8_t>(x, y, c) - bilinear_reference(in, x, y, c, 40, 23)) <= 0.501);
}

TEST_CASE("preprocess takes the nearest sample on request") {
  const TestImage in = random_bytes(10, 10, 1, 4);
  StageHarness harness(preprocess_stage(),
                       {{"size", std::vector<double>{5, 20}}, {"filter", std::string("nearest")}});
  harness.run({in.view});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 5; ++x)
      CHECK(harness.at<std::uint8_t>(x, y) == in.at<std::uint8_t>(2 * x + 1, y / 2));
}

TEST_CASE("preprocess computes what its per-sample function computes, bit for bit") {
  const TestImage in = random_bytes(61, 47, 4, 5, 7);
  for (const auto& [width, height] :
       {std::pair{20, 100}, std::pair{61, 13}, std::pair{140, 47}, std::pair{1, 1}}) {
    StageHarness harness(preprocess_stage(), {{"crop", std::vector<double>{3, 2, 50, 40}},
                                              {"size", std::vector<double>{double(width), double(height)}},
                                              {"output", kFloatWord},
                                              {"scale", 1.0}});
    harness.run({in.view});
    const AxisTable across = make_axis_table(3, 50, width, ResampleFilter::Auto);
    const AxisTable down = make_axis_table(2, 40, height, ResampleFilter::Auto);
    const Resample resample{reader_of(in.view), across.taps(), down.taps()};
    int different = 0;
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        for (int c = 0; c < 4; ++c) different += harness.at<float>(x, y, c) != resample(x, y, c);
    CHECK(different == 0);
  }
}

TEST_CASE("preprocess gives the same bytes for any number of threads and any stride") {
  const TestImage tight = random_bytes(64, 67, 3, 6), loose = random_bytes(64, 67, 3, 6, 13);
  const Settings settings{{"size", std::vector<double>{31, 50}}, {"colour", std::string("hsl")}};
  StageHarness one(preprocess_stage(), settings);
  one.run({tight.view});
  for (const int threads : {2, 3, 8}) {
    StageHarness many(preprocess_stage(), settings);
    many.threads(threads).output_row_extra(3).run({loose.view});
    CHECK(many.bytes() == one.bytes());
  }
}

TEST_CASE("preprocess converts colours as their definitions say") {
  const std::uint8_t pixels[][3] = {{255, 0, 0},   {0, 255, 0},   {0, 0, 255},
                                    {255, 255, 0}, {10, 200, 90}, {77, 77, 77}};
  const TestImage in = filled_image<std::uint8_t>({.width = 6, .height = 1, .channels = 3},
                                                  [&](int x, int, int c) { return pixels[x][c]; });
  StageHarness grey(preprocess_stage(), {{"colour", kGreyWord}});
  grey.run({in.view});
  CHECK(grey.image().format.channels == 1);
  const int lumas[] = {76, 150, 29, 226, 131, 77};
  for (int x = 0; x < 6; ++x) CHECK(grey.at<std::uint8_t>(x, 0) == lumas[x]);

  StageHarness hsv(preprocess_stage(), {{"colour", std::string("hsv")}, {"output", kFloatWord}});
  hsv.run({in.view});
  const double hues[] = {0, 1.0 / 3, 2.0 / 3, 1.0 / 6, (2 + 80.0 / 190) / 6, 0};
  const double saturations[] = {1, 1, 1, 1, 0.95, 0};
  for (int x = 0; x < 6; ++x) {
    CHECK(hsv.at<float>(x, 0, 0) == doctest::Approx(hues[x]).epsilon(1e-5));
    CHECK(hsv.at<float>(x, 0, 1) == doctest::Approx(saturations[x]).epsilon(1e-5));
  }

  StageHarness rgba(preprocess_stage(), {{"colour", std::string("rgba")}});
  rgba.run({in.view});
  CHECK(rgba.at<std::uint8_t>(4, 0, 1) == 200);
  CHECK(rgba.at<std::uint8_t>(4, 0, 3) == 255);
}

TEST_CASE("preprocess normalises by scale, mean and deviation of each channel") {
  const TestImage in = random_bytes(8, 8, 3, 7);
  StageHarness harness(preprocess_stage(), {{"output", kFloatWord},
                                            {"mean", std::vector<double>{0.485, 0.456, 0.406}},
                                            {"deviation", std::vector<double>{0.229, 0.224, 0.225}}});
  harness.run({in.view});
  CHECK(harness.image().format.layout == Layout::Planar);
  const double mean[] = {0.485, 0.456, 0.406}, deviation[] = {0.229, 0.224, 0.225};
  for (int c = 0; c < 3; ++c)
    for (int x = 0; x < 8; ++x)
      CHECK(harness.at<float>(x, 5, c) ==
            doctest::Approx((in.at<std::uint8_t>(x, 5, c) / 255.0 - mean[c]) / deviation[c]).epsilon(1e-5));
}

TEST_CASE("preprocess places what it crops and resizes on the frame") {
  const TestImage in = random_bytes(100, 80, 3, 8);
  StageHarness harness(preprocess_stage(),
                       {{"crop", std::vector<double>{10, 20, 60, 40}}, {"size", std::vector<double>{30, 0}}});
  harness.run({in.view});
  const ImageFormat& out = harness.image().format;
  CHECK(out.height == 20);
  // The outer edges of the output are those of the crop.
  CHECK(out.placement.frame_x(-0.5) == doctest::Approx(9.5));
  CHECK(out.placement.frame_x(29.5) == doctest::Approx(69.5));
  CHECK(out.placement.frame_y(19.5) == doctest::Approx(59.5));
}

TEST_CASE("preprocess takes one number as the width, and the height follows it") {
  const TestImage in = random_bytes(100, 80, 3, 8);
  StageHarness harness(preprocess_stage(), {{"size", std::vector<double>{50}}});
  harness.run({in.view});
  CHECK(harness.image().format.width == 50);
  CHECK(harness.image().format.height == 40);
}

TEST_CASE("preprocess resizes the planes of class maps") {
  Random random(9);
  const TestImage in = filled_image<float>(
      {.width = 12, .height = 8, .channels = 7, .type = ElementType::F32, .layout = Layout::Planar},
      [&](int, int, int) { return random.unit(); }, 4);
  StageHarness harness(preprocess_stage(), {{"size", std::vector<double>{6, 4}}});
  harness.run({in.view});
  for (int c = 0; c < 7; ++c)
    CHECK(harness.at<float>(2, 3, c) == doctest::Approx((in.at<float>(4, 6, c) + in.at<float>(5, 6, c) +
                                                         in.at<float>(4, 7, c) + in.at<float>(5, 7, c)) /
                                                        4));
}

TEST_CASE("preprocess makes float32 of float16 and computes with that") {
  Random random(11);
  for (const Layout layout : {Layout::Interleaved, Layout::Planar})
    for (const Settings& settings : {Settings{}, Settings{{"size", std::vector<double>{5, 9}}}}) {
      ImageFormat format{.width = 12, .height = 8, .channels = 3, .type = ElementType::F16, .layout = layout};
      const TestImage halves = filled_image<Half>(
          format, [&](int, int, int) { return Half{static_cast<std::uint16_t>(random.below(0x7c00))}; });
      format.type = ElementType::F32;
      const TestImage floats = filled_image<float>(
          format, [&](int x, int y, int c) { return half_to_float(halves.at<Half>(x, y, c)); });
      StageHarness from_halves(preprocess_stage(), settings), from_floats(preprocess_stage(), settings);
      from_halves.run({halves.view});
      from_floats.run({floats.view});
      REQUIRE(from_halves.image().format == from_floats.image().format);
      CHECK(from_halves.image().format.type == ElementType::F32);
      CHECK(from_halves.image().format.layout == layout);
      int wrong = 0;
      for (int y = 0; y < from_floats.image().format.height; ++y)
        for (int x = 0; x < from_floats.image().format.width; ++x)
          for (int c = 0; c < 3; ++c)
            wrong += from_halves.at<float>(x, y, c) != from_floats.at<float>(x, y, c);
      CHECK(wrong == 0);
    }
}

TEST_CASE("preprocess refuses what does not fit, in a sentence") {
  const TestImage in = random_bytes(20, 10, 3, 10);
  const auto refused = [&](const Settings& settings, const char* sentence) {
    StageHarness harness(preprocess_stage(), settings);
    CHECK_THROWS_WITH_AS(harness.run({in.view}), sentence, Error);
  };
  refused({{"crop", std::vector<double>{5, 5, 16, 2}}},
          "preprocess: crop [5, 5, 16, 2] does not lie in the 20x10 image");
  refused({{"crop", std::vector<double>{5, 5}}},
          "preprocess: crop has 2 numbers, allowed 4: [x, y, width, height]");
  refused({{"size", std::vector<double>{0, 0}}}, "preprocess: size is [0, 0], allowed at most one 0");
  refused({{"size", std::vector<double>{1.5, 3}}},
          "preprocess: size has the number 1.5, only whole numbers of px are allowed");
  refused({{"scale", 2.0}}, "preprocess: scale, mean and deviation need output: uint8 or float32");
  refused({{"output", kFloatWord}, {"mean", std::vector<double>{1, 2}}},
          "preprocess: mean has 2 numbers, allowed 1 or one for each of the 3 channels");
}

TEST_CASE("preprocess makes uint8 of every type: scaled, rounded to the nearest, saturated") {
  Random random(12);
  for (const Layout layout : {Layout::Interleaved, Layout::Planar})
    for (const int channels : {1, 3, 4, 5}) {
      if (layout == Layout::Interleaved && channels == 5) continue;
      const ImageFormat format{
          .width = 19, .height = 7, .channels = channels, .type = ElementType::F32, .layout = layout};
      const TestImage in = filled_image<float>(
          format, [&](int, int, int) { return static_cast<float>(random.below(1400)) / 1000.0F - 0.2F; });
      StageHarness harness(preprocess_stage(), {{"output", std::string("uint8")}});
      harness.run({in.view});
      CHECK(harness.image().format.type == ElementType::U8);
      CHECK(harness.image().format.layout == (channels == 5 ? Layout::Planar : Layout::Interleaved));
      int wrong = 0;
      for (int y = 0; y < 7; ++y)
        for (int x = 0; x < 19; ++x)
          for (int c = 0; c < channels; ++c) {
            const float scaled = in.at<float>(x, y, c) * 255.0F;
            wrong += harness.at<std::uint8_t>(x, y, c) != std::floor(std::clamp(scaled, 0.0F, 255.0F) + 0.5F);
          }
      CHECK(wrong == 0);
    }
}

TEST_CASE("a stage that wants uint8 says which stage makes it of floating point") {
  const TestImage in = filled_image<float>({.width = 8, .height = 8, .channels = 3, .type = ElementType::F32},
                                           [](int x, int, int) { return static_cast<float>(x); });
  for (const StageType* type : {&mean_shift_filter_stage(), &mean_shift_segment_stage()}) {
    StageHarness harness(*type, {});
    CHECK_THROWS_WITH_AS(harness.run({in.view}), doctest::Contains("preprocess with output: uint8"), Error);
  }
}
