#include "stages/classify/stage.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/error.h"
#include "base/memory.h"
#include "stages/classify/lookup.h"
#include "stages/classify/rows.h"
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

double reference_distance(const ClassSpec& spec, const double rgb[3], const ClassifyParams& params) {
  double best = 1e9;
  const Vector here = oklab_reference(rgb[0], rgb[1], rgb[2]);
  for (const Colour& c : spec.references) {
    const Vector there = oklab_reference(c.red, c.green, c.blue);
    const double in_oklab =
        std::hypot((here.x - there.x) * params.lightness, here.y - there.y, here.z - there.z);
    const double in_rgb = std::hypot(rgb[0] - c.red, rgb[1] - c.green, rgb[2] - c.blue) / 255;
    best = std::min(best, params.space == ColourSpace::Rgb ? in_rgb : in_oklab);
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
    weights.push_back(weight(rest ? params.rest : reference_distance(spec, rgb, params)));
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

/// Maps of one pixel at a time by ClassifyPixel, and their smoothing sample by sample: the arithmetic that
/// every backend and instruction set must repeat bit for bit.
class PlainMaps {
 public:
  PlainMaps(StageHarness& harness, const TestImage& in)
      : in_(in), plan_(make_classify_plan(harness.params().as<ClassifyParams>(), harness)) {
    pixel_ = plan_.pixel;
    pixel_.decode = plan_.decode.data();
    pixel_.references = plan_.references.data(), pixel_.ranges = plan_.ranges.data();
    const ImageFormat& format = in.view.format;
    for (int y = 0; y < format.height; ++y)
      for (int x = 0; x < format.width; ++x) maps_.push_back(of_pixel(x, y));
    smooth([&](int x, int y, int j) { return std::pair{std::clamp(x + j, 0, format.width - 1), y}; });
    smooth([&](int x, int y, int j) { return std::pair{x, std::clamp(y + j, 0, format.height - 1)}; });
  }
  float at(int x, int y, int k) const { return maps_[index(x, y)][std::size_t(k)]; }

 private:
  std::size_t index(int x, int y) const {
    return std::size_t(y) * std::size_t(in_.view.format.width) + std::size_t(x);
  }

  std::vector<float> of_pixel(int x, int y) const {
    const bool grey = in_.view.format.channels == 1;
    const auto red = in_.at<std::uint8_t>(x, y, 0), green = in_.at<std::uint8_t>(x, y, grey ? 0 : 1),
               blue = in_.at<std::uint8_t>(x, y, grey ? 0 : 2);
    std::vector<float> weights;
    float total = plan_.rest_class >= 0 ? 0.0F : pixel_.rest_weight;
    for (int k = 0; k < int(plan_.classes.size()); ++k) {
      weights.push_back(
          k == plan_.rest_class
              ? pixel_.rest_weight
              : pixel_.weight(pixel_.nearest(plan_.classes[std::size_t(k)], pixel_.place(red, green, blue),
                                             ClassifyPixel::hsv(red, green, blue))));
      total = total + weights.back();
    }
    for (float& one : weights) one = one / total;
    return weights;
  }

  template <class Neighbour>
  void smooth(const Neighbour& neighbour) {
    const int radius = (int(plan_.weights.size()) - 1) / 2;
    if (radius == 0) return;
    const auto from = maps_;
    for (int y = 0; y < in_.view.format.height; ++y)
      for (int x = 0; x < in_.view.format.width; ++x)
        for (std::size_t k = 0; k < plan_.classes.size(); ++k) {
          float sum = 0;
          for (int j = -radius; j <= radius; ++j) {
            const auto [column, row] = neighbour(x, y, j);
            const float term = plan_.weights[std::size_t(j + radius)] * from[index(column, row)][k];
            sum = j == -radius ? term : sum + term;
          }
          maps_[index(x, y)][k] = sum;
        }
  }

  const TestImage& in_;
  ClassifyPlan plan_;
  ClassifyPixel pixel_;
  std::vector<std::vector<float>> maps_;
};

/// `count` classes of random references and ranges, one of them the rest for every other count.
std::vector<ClassSpec> random_classes(int count, Random& random) {
  std::vector<ClassSpec> classes(static_cast<std::size_t>(count));
  for (int k = 0; k < count; ++k) {
    ClassSpec& one = classes[std::size_t(k)];
    one.name = "class " + std::to_string(k);
    if (k == 1 && count % 2 == 0) continue;
    for (int r = random.below(4); r >= 0; --r)
      one.references.push_back({std::uint8_t(random.below(256)), std::uint8_t(random.below(256)),
                                std::uint8_t(random.below(256))});
    if (k % 3 == 2)
      one.ranges.push_back(
          {.hue_from = random.unit() * 360, .hue_to = random.unit() * 360, .saturation_from = 0.3});
  }
  return classes;
}

/// Random pixels, of which most repeat one of `palette` colours.
TestImage repeating_frame(int width, int height, int channels, int palette, Random& random) {
  std::vector<int> colours(std::size_t(palette) * 4);
  for (int& one : colours) one = random.below(256);
  std::size_t colour = 0;
  return filled_image<std::uint8_t>(
      {.width = width, .height = height, .channels = channels},
      [&](int, int, int c) {
        if (c == 0) colour = std::size_t(random.below(palette)) * 4;
        return random.below(8) == 0 ? random.below(256) : colours[colour + std::size_t(c)];
      },
      5);
}

}  // namespace

TEST_CASE("classify has the bits of its definition pixel by pixel, for 1 to 16 classes") {
  Random random(5);
  for (int count = 1; count <= 16; ++count)
    for (const auto& [width, height] : {std::pair{1, 1}, std::pair{131, 7}, std::pair{1100, 5}}) {
      const int channels = std::array{1, 3, 4}[std::size_t(random.below(3))];
      const auto classes = random_classes(count, random);
      const TestImage in = repeating_frame(width, height, channels, 1 + random.below(300), random);
      StageHarness harness(classify_stage(),
                           {{"smooth", std::int64_t{count % 5 == 4 ? 8 : count % 4}},
                            {"space", std::string(count % 3 == 1 ? "rgb" : "oklab")}},
                           classes);
      harness.threads(1 + random.below(3)).output_row_extra(4).run({in.view});
      harness.rerun();  // with what the frame before left in the tables
      const PlainMaps plain(harness, in);
      int different = 0;
      for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x)
          for (int k = 0; k < count; ++k)
            different += std::bit_cast<std::uint32_t>(harness.at<float>(x, y, k)) !=
                         std::bit_cast<std::uint32_t>(plain.at(x, y, k));
      CAPTURE(count);
      CAPTURE(width);
      CAPTURE(channels);
      CHECK(different == 0);
    }
}

TEST_CASE("classify has the bits of its definition for every colour, with every instruction set") {
  Random random(9);
  StageHarness harness(classify_stage(), {}, fruit_classes());
  const TestImage any = repeating_frame(4, 4, 3, 1, random);
  harness.run({any.view});
  ClassifyPlan plan = make_classify_plan(harness.params().as<ClassifyParams>(), harness);
  ClassifyPixel pixel = plan.pixel;
  pixel.decode = plan.decode.data(), pixel.references = plan.references.data(),
  pixel.ranges = plan.ranges.data();
  constexpr int kWidth = 512, kRows = 8, kClasses = 4;
  const ColourTableShape shape(kClasses);
  for (const Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
    if (simd > best_simd()) continue;
    const ClassifyRows rows = classify_rows(1, simd);
    const Block table_memory(shape.words() * sizeof(std::uint32_t), MemoryKind::Host);
    std::memset(table_memory.data(), 0, table_memory.size());
    std::vector<float> work(kClasses * kClassifyLanes), maps(kClasses * kWidth * kRows);
    int different = 0;
    // Every 37th of all colours, another 37th for each set; and each block twice, computed and then looked
    // up. Its beginning is computed alone before: few colours are not computed as many are.
    constexpr int kFew = 40;
    for (std::uint32_t first = std::uint32_t(simd); first < 1U << 24U; first += 37 * kWidth * kRows) {
      std::vector<std::uint8_t> pixels;
      for (std::uint32_t i = 0; i < kWidth * kRows; ++i)
        for (unsigned shift = 0; shift < 24; shift += 8)
          pixels.push_back(std::uint8_t((first + 37 * i) >> shift));
      const ClassifyBlock out{.first = maps.data(),
                              .row_step = kWidth,
                              .step = kWidth * kRows,
                              .table = reinterpret_cast<std::uint32_t*>(table_memory.data()),
                              .work = work.data()};
      rows.classify(plan, shape, {.first = pixels.data(), .rows = 1, .width = kFew}, out);
      for (int time = 0; time < 2; ++time) {
        rows.classify(plan, shape,
                      {.first = pixels.data(), .pitch = 3 * kWidth, .rows = kRows, .width = kWidth}, out);
        for (int x = 0; x < kWidth * kRows; ++x) {
          const std::uint8_t* at = &pixels[std::size_t(3 * x)];
          const Triple place = pixel.place(at[0], at[1], at[2]),
                       hsv = ClassifyPixel::hsv(at[0], at[1], at[2]);
          float weights[kClasses], total = 0;
          for (int k = 0; k < kClasses; ++k) {
            weights[k] = k == plan.rest_class
                             ? pixel.rest_weight
                             : pixel.weight(pixel.nearest(plan.classes[std::size_t(k)], place, hsv));
            total = total + weights[k];
          }
          for (int k = 0; k < kClasses; ++k) {
            const float expected = weights[k] / total;
            different += std::bit_cast<std::uint32_t>(expected) !=
                         std::bit_cast<std::uint32_t>(maps[std::size_t(k * kWidth * kRows + x)]);
          }
        }
      }
    }
    CAPTURE(name_of(simd));
    CHECK(different == 0);
  }
}

TEST_CASE("colours that differ in brightness alone have places beside each other in the table") {
  constexpr std::uint32_t kGrey = 0x010101;
  Random random(4);
  for (const std::size_t classes : {1, 3, 4, 16, 64}) {
    CAPTURE(classes);
    const ColourTableShape shape(classes);
    for (int time = 0; time < 50; ++time) {
      // From a colour of 0 to 55 in each channel on, 200 steps.
      const auto channel = [&] { return std::uint32_t(random.below(56)); };
      const std::uint32_t first = channel() | channel() << 8U | channel() << 16U;
      std::array<std::uint32_t, 200> colours, places;
      for (std::uint32_t step = 0; step < colours.size(); ++step)
        colours[step] = (first + step * kGrey) | classify_lookup::kThere;
      classify_lookup::find_places(colours.data(), colours.size(), shape, places.data());
      for (std::size_t step = 1; step < places.size(); ++step) {
        const std::size_t away =
            (places[step] + shape.words() - places[step - 1]) % shape.words() / shape.entry_words;
        CHECK((away == 1 || away == 2));
        CHECK(places[step] % shape.entry_words == 0);
      }
    }
  }
}

TEST_CASE(
    "classify smooths in both directions at once as in one after the other, with every instruction set") {
  Random random(11);
  constexpr int kWidth = 77, kLength = kWidth + 2 * kMaxSmooth;
  for (const Simd simd : {Simd::Portable, Simd::Avx2, Simd::Avx512}) {
    if (simd > best_simd()) continue;
    for (int radius = 1; radius <= kMaxSmooth; ++radius) {
      const ClassifyRows rows = classify_rows(radius, simd);
      const auto taps = static_cast<std::size_t>(2 * radius + 1);
      std::vector<float> weights(taps), samples(kLength), kept(taps * kWidth), along(kWidth), both(kWidth);
      for (auto* some : {&weights, &samples, &kept})
        for (float& one : *some) one = float(random.unit());
      std::vector<const float*> shifted(taps), lines(taps);
      for (std::size_t j = 0; j < taps; ++j) shifted[j] = &samples[j], lines[j] = &kept[j * kWidth];
      rows.smooth(samples.data(), lines.data(), weights.data(), along.data(), both.data(), kWidth);
      float expected_along = 0, expected_both = 0;
      int different = 0;
      for (std::size_t x = 0; x < kWidth; ++x) {
        for (std::size_t j = 0; j < taps; ++j) {
          const float term = weights[j] * shifted[j][x];
          expected_along = j == 0 ? term : expected_along + term;
        }
        for (std::size_t j = 0; j < taps; ++j) {
          const float term = weights[j] * (j + 1 < taps ? lines[j][x] : expected_along);
          expected_both = j == 0 ? term : expected_both + term;
        }
        different += along[x] != expected_along || both[x] != expected_both;
      }
      CAPTURE(name_of(simd));
      CAPTURE(radius);
      CHECK(different == 0);
    }
  }
}

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

TEST_CASE("classify gives what its definition gives, whatever space, lightness, softness and rest are") {
  std::vector<ClassSpec> classes = fruit_classes();
  classes[1].ranges.push_back({.hue_from = 250,
                               .hue_to = 300,
                               .saturation_from = 0.2,
                               .saturation_to = 0.7,
                               .value_from = 0.3,
                               .value_to = 0.8});
  classes[2].ranges[0] = {.hue_from = 300, .hue_to = 200};  // its middle lies beyond a whole turn
  const TestImage in = random_frame(90, 12, 3);
  for (const bool has_rest : {true, false}) {
    if (!has_rest) classes.pop_back();
    for (const char* space : {"oklab", "rgb"})
      for (const double lightness : {0.0, 0.2, 1.0})
        for (const double softness : {0.02, 0.3})
          for (const double rest : {0.0, 0.05, 0.4}) {
            if (has_rest && rest == 0) continue;
            CAPTURE(has_rest);
            CAPTURE(space);
            CAPTURE(lightness);
            CAPTURE(softness);
            CAPTURE(rest);
            StageHarness harness(classify_stage(),
                                 {{"smooth", std::int64_t{0}},
                                  {"space", std::string(space)},
                                  {"lightness", lightness},
                                  {"softness", softness},
                                  {"rest", rest}},
                                 classes);
            harness.run({in.view});
            double worst = 0;
            for (int y = 0; y < 12; ++y)
              for (int x = 0; x < 90; ++x) {
                const double rgb[] = {double(in.at<std::uint8_t>(x, y, 0)),
                                      double(in.at<std::uint8_t>(x, y, 1)),
                                      double(in.at<std::uint8_t>(x, y, 2))};
                const auto expected = probabilities(classes, rgb, harness.params().as<ClassifyParams>());
                for (int k = 0; k < int(classes.size()); ++k)
                  worst = std::max(worst, std::abs(harness.at<float>(x, y, k) - expected[std::size_t(k)]));
              }
            CHECK(worst < 1e-4);
          }
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
  refused({{"rest", 0.0}}, {{.name = "b"}, {.name = "a", .references = {{1, 2, 3}}}},
          "classify: class 'b' has neither references nor ranges and rest is 0, so it would be empty");
}
