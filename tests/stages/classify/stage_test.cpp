#include "stages/classify/stage.h"

#include <algorithm>
#include <cmath>

#include "cuda/error.h"
#include "tests/stages/harness.h"

using namespace contorno;
using namespace contorno::test;

namespace {

struct Vector {
  double x, y, z;
};

/// Oklab by its published definition, in double with the library's cube root and power.
Vector oklab_reference(double red, double green, double blue) {
  const auto linear = [](double v) {
    v /= 255;
    return v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  const double r = linear(red), g = linear(green), b = linear(blue);
  const double l = std::cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const double m = std::cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const double s = std::cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return {0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
          1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
          0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s};
}

Vector hsv_reference(double red, double green, double blue) {
  const double high = std::max({red, green, blue}), low = std::min({red, green, blue}), chroma = high - low;
  double hue = 0;
  if (chroma > 0 && high == red)
    hue = std::fmod((green - blue) / chroma + 6, 6);
  else if (chroma > 0 && high == green)
    hue = (blue - red) / chroma + 2;
  else if (chroma > 0)
    hue = (red - green) / chroma + 4;
  return {hue * 60, high > 0 ? chroma / high : 0, high / 255};
}

double reference_distance(const ClassSpec& spec, const double rgb[3], double lightness) {
  double best = 1e9;
  const Vector here = oklab_reference(rgb[0], rgb[1], rgb[2]);
  for (const Colour& c : spec.references) {
    const Vector there = oklab_reference(c.red, c.green, c.blue);
    best = std::min(best, std::hypot((here.x - there.x) * lightness, here.y - there.y, here.z - there.z));
  }
  const Vector hsv = hsv_reference(rgb[0], rgb[1], rgb[2]);
  const auto outside = [](double v, double from, double to) { return std::max({from - v, v - to, 0.0}); };
  for (const HueRange& r : spec.ranges) {
    double turn = 0;
    const bool wraps = r.hue_from > r.hue_to;
    const bool in =
        wraps ? hsv.x >= r.hue_from || hsv.x <= r.hue_to : hsv.x >= r.hue_from && hsv.x <= r.hue_to;
    const auto around = [](double a, double b) { return std::min(std::abs(a - b), 360 - std::abs(a - b)); };
    if (!in) turn = std::min(around(hsv.x, r.hue_from), around(hsv.x, r.hue_to)) / 180;
    best = std::min(best, std::hypot(turn, outside(hsv.y, r.saturation_from, r.saturation_to),
                                     outside(hsv.z, r.value_from, r.value_to)));
  }
  return best;
}

/// The map values of one pixel as docs/reference/classify.md defines them.
std::vector<double> probabilities(const std::vector<ClassSpec>& classes, const double rgb[3],
                                  const ClassifyParams& params) {
  const auto weight = [&](double d) {
    return 1 / std::pow(1 + d * d / (params.softness * params.softness), 2);
  };
  std::vector<double> weights;
  double total = 0;
  bool has_rest = false;
  for (const ClassSpec& spec : classes) {
    const bool rest = spec.references.empty() && spec.ranges.empty();
    has_rest = has_rest || rest;
    weights.push_back(weight(rest ? params.rest : reference_distance(spec, rgb, params.lightness)));
    total += weights.back();
  }
  if (!has_rest && params.rest > 0) total += weight(params.rest);
  for (double& w : weights) w /= total;
  return weights;
}

std::vector<ClassSpec> fruit_classes() {
  return {
      {.name = "orange", .references = {{232, 138, 16}, {200, 106, 8}}},
      {.name = "red", .ranges = {{.hue_from = 340, .hue_to = 15, .saturation_from = 0.4, .value_from = 0.2}}},
      {.name = "green", .references = {{106, 154, 48}}, .ranges = {{.hue_from = 80, .hue_to = 150}}},
      {.name = "rest"}};
}

TestImage random_frame(int width, int height, int channels, std::size_t row_extra = 0) {
  Random random(21);
  return filled_image<std::uint8_t>(
      {.width = width, .height = height, .channels = channels},
      [&](int, int, int) { return random.below(256); }, row_extra);
}

}  // namespace

TEST_CASE("the cube root is right within 2 units in the last place") {
  CHECK(cube_root(0.0F) == 0.0F);
  double worst = 0;
  for (int i = 1; i <= 200000; ++i) {
    const float x = static_cast<float>(i) / 200000.0F * 1.1F;
    const double exact = std::cbrt(static_cast<double>(x));
    worst = std::max(worst, std::abs(cube_root(x) - exact) / exact);
  }
  CHECK(worst < 2.4e-7);
}

TEST_CASE("classify gives what its definition gives") {
  const auto classes = fruit_classes();
  for (const int channels : {3, 4}) {
    const TestImage in = random_frame(150, 20, channels, 3);
    StageHarness harness(classify_stage(), {{"smooth", std::int64_t{0}}}, classes);
    harness.run({in.view});
    REQUIRE(harness.image().format.channels == 4);
    double worst = 0;
    for (int y = 0; y < 20; ++y)
      for (int x = 0; x < 150; ++x) {
        const double rgb[] = {double(in.at<std::uint8_t>(x, y, 0)), double(in.at<std::uint8_t>(x, y, 1)),
                              double(in.at<std::uint8_t>(x, y, 2))};
        const auto expected = probabilities(classes, rgb, harness.params().as<ClassifyParams>());
        for (int k = 0; k < 4; ++k)
          worst = std::max(worst, std::abs(harness.at<float>(x, y, k) - expected[std::size_t(k)]));
      }
    CHECK(worst < 2e-5);
  }
}

TEST_CASE("a reference colour belongs to its class and what is far from all to the rest") {
  const auto classes = fruit_classes();
  const std::uint8_t pixels[][3] = {{232, 138, 16}, {210, 20, 30}, {106, 154, 48}, {60, 90, 220}};
  const TestImage in = filled_image<std::uint8_t>({.width = 4, .height = 1, .channels = 3},
                                                  [&](int x, int, int c) { return pixels[x][c]; });
  StageHarness harness(classify_stage(), {{"smooth", std::int64_t{0}}}, classes);
  harness.run({in.view});
  for (int k = 0; k < 4; ++k) CHECK(harness.at<float>(k, 0, k) > 0.75F);
}

TEST_CASE("the maps of a pixel sum to one when a class is the rest") {
  const TestImage in = random_frame(67, 13, 3);
  StageHarness harness(classify_stage(), {}, fruit_classes());
  harness.run({in.view});
  for (int y = 0; y < 13; ++y)
    for (int x = 0; x < 67; ++x) {
      float sum = 0;
      for (int k = 0; k < 4; ++k) sum += harness.at<float>(x, y, k);
      CHECK(sum == doctest::Approx(1).epsilon(1e-6));
    }
}

TEST_CASE("classify smooths its maps with binomial weights and repeated edges") {
  const TestImage in = random_frame(41, 29, 3);
  StageHarness plain(classify_stage(), {{"smooth", std::int64_t{0}}}, fruit_classes());
  plain.run({in.view});
  for (const int radius : {1, 2, 5, 8}) {
    StageHarness smooth(classify_stage(), {{"smooth", std::int64_t{radius}}}, fruit_classes());
    smooth.threads(3).run({in.view});
    const auto weight = [&](int i) {
      double w = 1;
      for (int j = 1; j <= i + radius; ++j) w = w * (2 * radius + 1 - j) / j;
      return w / std::pow(4.0, radius);
    };
    double worst = 0;
    for (int y = 0; y < 29; ++y)
      for (int x = 0; x < 41; ++x) {
        double sum = 0;
        for (int j = -radius; j <= radius; ++j)
          for (int i = -radius; i <= radius; ++i)
            sum += weight(i) * weight(j) *
                   plain.at<float>(std::clamp(x + i, 0, 40), std::clamp(y + j, 0, 28), 1);
        worst = std::max(worst, std::abs(sum - smooth.at<float>(x, y, 1)));
      }
    CHECK(worst < 1e-6);
  }
}

TEST_CASE("classify gives the same bytes for any number of threads and any stride") {
  for (const auto& [width, height] :
       {std::pair{67, 131}, std::pair{1, 1}, std::pair{128, 3}, std::pair{3, 40}}) {
    const TestImage tight = random_frame(width, height, 3), loose = random_frame(width, height, 3, 17);
    for (const std::int64_t smooth : {0, 2}) {
      StageHarness one(classify_stage(), {{"smooth", smooth}}, fruit_classes());
      one.run({tight.view});
      for (const int threads : {2, 3, 16}) {
        StageHarness many(classify_stage(), {{"smooth", smooth}}, fruit_classes());
        many.threads(threads).output_row_extra(12).run({loose.view});
        CHECK(many.bytes() == one.bytes());
      }
    }
  }
}

TEST_CASE("classify writes bytes that are the rounded floats") {
  const TestImage in = random_frame(50, 9, 3);
  StageHarness floats(classify_stage(), {}, fruit_classes());
  floats.run({in.view});
  StageHarness bytes(classify_stage(), {{"output", std::string("uint8")}}, fruit_classes());
  bytes.run({in.view});
  for (int y = 0; y < 9; ++y)
    for (int x = 0; x < 50; ++x)
      for (int k = 0; k < 4; ++k)
        CHECK(std::abs(bytes.at<std::uint8_t>(x, y, k) - 255.0 * floats.at<float>(x, y, k)) <= 0.5001);
}

TEST_CASE("a grey frame is classified as grey colours") {
  const TestImage in = filled_image<std::uint8_t>({.width = 256, .height = 1, .channels = 1},
                                                  [](int x, int, int) { return x; });
  const std::vector<ClassSpec> classes{{.name = "dark", .references = {{20, 20, 20}}},
                                       {.name = "bright", .references = {{230, 230, 230}}}};
  StageHarness harness(classify_stage(), {{"smooth", std::int64_t{0}}, {"rest", 0.0}}, classes);
  harness.run({in.view});
  CHECK(harness.at<float>(20, 0, 0) > 0.9F);
  CHECK(harness.at<float>(230, 0, 1) > 0.9F);
  for (int x = 1; x < 256; ++x)
    CHECK(harness.at<float>(x, 0, 1) + harness.at<float>(x, 0, 0) == doctest::Approx(1));
}

TEST_CASE("classify refuses classes that it cannot tell apart") {
  const TestImage in = random_frame(4, 4, 3);
  const auto refused = [&](const Settings& settings, std::vector<ClassSpec> classes, const char* sentence) {
    StageHarness harness(classify_stage(), settings, std::move(classes));
    CHECK_THROWS_WITH_AS(harness.run({in.view}), sentence, Error);
  };
  refused({}, {{.name = "a"}},
          "classify: no class has references or ranges, so no colour can be told from another");
  refused({}, {{.name = "a", .references = {{1, 2, 3}}}, {.name = "b"}, {.name = "c"}},
          "classify: classes 'b' and 'c' have neither references nor ranges, allowed for one class");
  refused({{"rest", 0.0}}, {{.name = "a", .references = {{1, 2, 3}}}, {.name = "b"}},
          "classify: class 'b' has neither references nor ranges and rest is 0, so it would be empty");
}
