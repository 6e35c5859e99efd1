// The mipmap chain's filters, linear light, alpha and precision. Every case of the stage runs on CUDA too
// where a device answers.
#include "stages/mipmap/chain.h"
#include "stages/mipmap/light.h"
#include "stages/mipmap/rows.h"
#include "tests/stages/mipmap/reference.h"

using namespace contorno;
using namespace contorno::test;

TEST_CASE("triangle, Kaiser, Lanczos and Mitchell follow their definitions at every edge") {
  for (const std::string filter : {"triangle", "kaiser", "lanczos3", "mitchell"})
    for (const std::string edge : {"clamp", "wrap", "mirror"})
      for (const auto& [width, height] : {std::pair{34, 18}, std::pair{21, 33}, std::pair{5, 2}}) {
        const TestImage in = random_image<std::uint8_t>(width, height, 3, 5, 1);
        StageHarness harness(
            mipmap_stage(),
            {{"filter", filter}, {"edge", edge}, {"stop", std::int64_t{1}}, {"level", std::int64_t{1}}});
        harness.threads(3).run({in.view});
        double worst = 0;
        for (int y = 0; y < height / 2; ++y)
          for (int x = 0; x < width / 2; ++x)
            for (int c = 0; c < 3; ++c) {
              const double exact = by_definition<std::uint8_t>(
                  in, filter, edge, x, y, width / 2, height / 2,
                  [&](int u, int v) { return static_cast<double>(in.at<std::uint8_t>(u, v, c)); });
              worst = std::max(worst,
                               std::fabs(harness.at<std::uint8_t>(x, y, c) - std::clamp(exact, 0.0, 255.0)));
            }
        INFO(filter, " ", edge, " ", width, "x", height);
        CHECK(worst < 0.501);
      }
}

TEST_CASE("every filter leaves an image of one value as it is, down to one pixel") {
  for (const std::string filter : {"box", "clamp", "triangle", "kaiser", "lanczos3", "mitchell"})
    for (const int value : {0, 1, 128, 254, 255})
      for (const bool light : {false, true}) {
        const TestImage in = filled_image<std::uint8_t>({.width = 37, .height = 21, .channels = 4},
                                                        [&](int, int, int) { return value; });
        StageHarness harness(mipmap_stage(), {{"filter", filter},
                                              {"stop", std::int64_t{1}},
                                              {"level", std::int64_t{5}},
                                              {"linear_light", light}});
        harness.run({in.view});
        for (int c = 0; c < 4; ++c) CHECK(harness.at<std::uint8_t>(0, 0, c) == value);
      }
}

TEST_CASE("half black, half white is 188 in linear light and 128 without, alpha is never light") {
  const TestImage in = filled_image<std::uint8_t>(
      {.width = 8, .height = 8, .channels = 4}, [](int x, int y, int) { return (x + y) % 2 == 0 ? 255 : 0; });
  const TestImage words =
      filled_image<std::uint16_t>({.width = 8, .height = 8, .channels = 3, .type = ElementType::U16},
                                  [](int x, int y, int) { return (x + y) % 2 == 0 ? 65535 : 0; });
  for (const std::string filter : {"box", "clamp", "triangle"}) {
    const Settings plain{{"filter", filter},
                         {"level", std::int64_t{1}},
                         {"stop", std::int64_t{1}},
                         {"edge", std::string("wrap")}};
    Settings light = plain;
    light.emplace_back("linear_light", true);
    StageHarness without(mipmap_stage(), plain), with(mipmap_stage(), light), deep(mipmap_stage(), light);
    without.run({in.view}), with.run({in.view}), deep.run({words.view});
    CHECK(without.at<std::uint8_t>(1, 1, 0) == 128);
    CHECK(with.at<std::uint8_t>(1, 1, 0) == 188);
    CHECK(with.at<std::uint8_t>(1, 1, 2) == 188);
    CHECK(with.at<std::uint8_t>(1, 1, 3) == 128);
    CHECK(std::abs(deep.at<std::uint16_t>(1, 1, 0) - 65535 * light_to_srgb(0.5)) < 1);
  }
}

TEST_CASE("linear light is within half a code of the formula, with margins for its 16 bits") {
  for (const bool area : {true, false}) {
    const TestImage in = random_image<std::uint8_t>(62, 35, 4, 7, 2);
    StageHarness harness(mipmap_stage(), {{"level", std::int64_t{1}},
                                          {"linear_light", true},
                                          {"filter", std::string(area ? "box" : "mitchell")}});
    harness.threads(2).run({in.view});
    const TestImage words = random_image<std::uint16_t>(62, 35, 1, 8, 2);
    StageHarness deep(mipmap_stage(), {{"level", std::int64_t{1}},
                                       {"linear_light", true},
                                       {"filter", std::string(area ? "box" : "mitchell")}});
    deep.run({words.view});
    double worst = 0, worst_deep = 0;
    for (int y = 0; y < 17; ++y)
      for (int x = 0; x < 31; ++x) {
        const auto exact = [&](const TestImage& image, auto value) {
          if (!area) return by_definition<std::uint8_t>(image, "mitchell", "clamp", x, y, 31, 17, value);
          double sum = 0;
          for (int v = y * 35; v < (y + 1) * 35; ++v)
            for (int u = x * 62; u < (x + 1) * 62; ++u) sum += value(u / 31, v / 17);
          return sum / (62.0 * 35.0);
        };
        const double light =
            exact(in, [&](int u, int v) { return srgb_to_light(in.at<std::uint8_t>(u, v, 1) / 255.0); });
        worst = std::max(worst, std::fabs(harness.at<std::uint8_t>(x, y, 1) -
                                          255 * light_to_srgb(std::clamp(light, 0.0, 1.0))));
        const double deeper = exact(
            words, [&](int u, int v) { return srgb_to_light(words.at<std::uint16_t>(u, v) / 65535.0); });
        worst_deep = std::max(worst_deep, std::fabs(deep.at<std::uint16_t>(x, y) -
                                                    65535 * light_to_srgb(std::clamp(deeper, 0.0, 1.0))));
      }
    CHECK(worst < 0.56);
    CHECK(worst_deep < 0.7);
  }
}

namespace {

/// The light of an 8-bit code by its definition.
int light_of(int code) {
  return static_cast<int>(std::lround(65535 * srgb_to_light(code / 255.0)));
}
/// The code whose light is nearest to sum / count, by looking at all of them; of two as near, the greater.
int nearest_code(std::uint64_t sum, std::uint64_t count) {
  int best = 0;
  const auto distance = [&](int code) {
    return std::llabs(static_cast<std::int64_t>(sum) -
                      static_cast<std::int64_t>(count) * static_cast<std::int64_t>(light_of(code)));
  };
  for (int code = 1; code < 256; ++code)
    if (distance(code) <= distance(best)) best = code;
  return best;
}

}  // namespace

TEST_CASE("every code of sRGB survives the way to light and back") {
  const LightTables& tables = light_tables();
  int wrong = 0;
  for (int code = 0; code < 256; ++code) {
    wrong += tables.light8[code] != light_of(code);
    wrong += light_to_code8(tables, 2U * tables.light8[code]) != code;
    wrong += light_to_code8(tables, static_cast<float>(tables.light8[code])) != code;
  }
  for (int code = 0; code < 65536; ++code) wrong += light_to_code16(tables, tables.light16[code]) != code;
  CHECK(wrong == 0);
  for (const float beyond : {-1.0F, std::nanf("")}) {
    CHECK(light_to_code8(tables, beyond) == 0);
    CHECK(light_to_code16(tables, beyond) == 0);
  }
  CHECK(light_to_code8(tables, 1e9F) == 255);
  CHECK(light_to_code16(tables, 1e9F) == 65535);
}

TEST_CASE("light goes back to the 8-bit code whose light is nearest, of two to the brighter one") {
  const LightTables& tables = light_tables();
  int wrong = 0, ties = 0;
  for (std::uint32_t twice = 0; twice <= 131070; ++twice) {
    const int code = light_to_code8(tables, twice);
    wrong += code != nearest_code(twice, 2);
    wrong += light_to_code8(tables, static_cast<float>(twice) / 2) != code;
    wrong += light_to_code8(tables, std::nextafter(static_cast<float>(twice + 1) / 2, 0.0F)) != code;
    ties += code > 0 && static_cast<int>(twice) == light_of(code) + light_of(code - 1);
  }
  CHECK(wrong == 0);
  CHECK(ties == 255);
}

TEST_CASE("light goes back to the 16-bit code whose light is nearest, of two to the brighter one") {
  const LightTables& tables = light_tables();
  int wrong = 0;
  for (int code = 1; code < 65536; ++code) {
    const double below = tables.light16[code - 1], above = tables.light16[code], middle = (below + above) / 2;
    const float near = static_cast<float>(middle);
    for (const float light : {near, std::nextafter(near, 0.0F), std::nextafter(near, kFullLight),
                              static_cast<float>(below + (above - below) / 4)})
      wrong += light_to_code16(tables, light) != (light >= middle ? code : code - 1);
    wrong += std::fabs(above - 65535 * srgb_to_light(code / 65535.0)) > 0.004;
  }
  CHECK(wrong == 0);
}

TEST_CASE("a level in linear light has the codes whose lights are nearest to the exact means") {
  for (const bool weighed : {false, true})
    for (const auto& [width, height] : {std::pair{64, 32}, std::pair{67, 41}, std::pair{9, 17}}) {
      const TestImage in = random_image<std::uint8_t>(width, height, 4, 21, 3);
      StageHarness harness(mipmap_stage(), {{"level", std::int64_t{1}},
                                            {"stop", std::int64_t{1}},
                                            {"linear_light", true},
                                            {"premultiplied", weighed}});
      harness.threads(2).run({in.view});
      const auto count = static_cast<std::uint64_t>(width * height);
      int wrong = 0;
      for (int y = 0; y < height / 2; ++y)
        for (int x = 0; x < width / 2; ++x) {
          const auto sum = [&](auto value) {
            return sum_of_areas(in.view.format, harness.image().format, x, y, value);
          };
          const auto alpha = [&](int u, int v) -> std::uint64_t { return in.at<std::uint8_t>(u, v, 3); };
          const std::uint64_t alphas = sum(alpha);
          wrong += harness.at<std::uint8_t>(x, y, 3) != rounded(alphas, count);
          for (int c = 0; c < 3; ++c) {
            const auto light = [&](int u, int v) -> std::uint64_t {
              return static_cast<std::uint64_t>(light_of(in.at<std::uint8_t>(u, v, c)));
            };
            const int expected =
                weighed && alphas > 0
                    ? nearest_code(sum([&](int u, int v) { return light(u, v) * alpha(u, v); }), alphas)
                    : nearest_code(sum(light), count);
            wrong += harness.at<std::uint8_t>(x, y, c) != expected;
          }
        }
      INFO(width, "x", height, weighed ? " weighed by alpha" : "");
      CHECK(wrong == 0);
    }
}

TEST_CASE("premultiplied weighs colours by alpha, and takes the plain mean where all is transparent") {
  for (const auto& [width, height] : kSizes) {
    TestImage in = random_image<std::uint8_t>(width, height, 4, 9, 4);
    for (int y = 0; y < height / 2; ++y)
      for (int x = 0; x < width; ++x) in.at<std::uint8_t>(x, y, 3) = 0;
    const bool one = width * height == 1;
    StageHarness harness(
        mipmap_stage(),
        {{"level", std::int64_t{one ? 0 : 1}}, {"stop", std::int64_t{1}}, {"premultiplied", true}});
    harness.threads(3).run({in.view});
    const ImageFormat& out = harness.image().format;
    int wrong = 0;
    const auto count = static_cast<std::uint64_t>(width * height);
    for (int y = 0; y < out.height; ++y)
      for (int x = 0; x < out.width; ++x) {
        const auto sum = [&](auto value) { return sum_of_areas(in.view.format, out, x, y, value); };
        const auto alpha = sum([&](int u, int v) -> std::uint64_t { return in.at<std::uint8_t>(u, v, 3); });
        wrong += harness.at<std::uint8_t>(x, y, 3) != rounded(alpha, count);
        for (int c = 0; c < 3; ++c) {
          const auto plain = sum([&](int u, int v) -> std::uint64_t { return in.at<std::uint8_t>(u, v, c); });
          const auto weighted = sum([&](int u, int v) -> std::uint64_t {
            return static_cast<std::uint64_t>(in.at<std::uint8_t>(u, v, c) * in.at<std::uint8_t>(u, v, 3));
          });
          wrong += harness.at<std::uint8_t>(x, y, c) !=
                   (alpha == 0 ? rounded(plain, count) : rounded(weighted, alpha));
        }
      }
    INFO(width, "x", height);
    CHECK(wrong == 0);
  }
}

TEST_CASE("premultiplied floats, words and light agree with the formula in double") {
  const TestImage words = random_image<std::uint16_t>(33, 22, 2, 10, 2);
  StageHarness deep(mipmap_stage(),
                    {{"level", std::int64_t{1}}, {"stop", std::int64_t{1}}, {"premultiplied", true}});
  deep.run({words.view});
  const TestImage floats = random_image<float>(32, 22, 4, 11, 4);
  StageHarness real(mipmap_stage(),
                    {{"level", std::int64_t{1}}, {"stop", std::int64_t{1}}, {"premultiplied", true}});
  real.run({floats.view});
  const TestImage bytes = random_image<std::uint8_t>(32, 22, 4, 12, 4);
  StageHarness light(mipmap_stage(), {{"level", std::int64_t{1}},
                                      {"stop", std::int64_t{1}},
                                      {"premultiplied", true},
                                      {"linear_light", true}});
  light.run({bytes.view});
  double worst = 0, worst_real = 0, worst_light = 0;
  for (int y = 0; y < 11; ++y)
    for (int x = 0; x < 16; ++x) {
      const auto ratio = [&](int width, auto colour, auto alpha) {
        double up = 0, down = 0, plain = 0;
        for (int v = y * 22; v < (y + 1) * 22; ++v)
          for (int u = x * width; u < (x + 1) * width; ++u) {
            const double a = alpha(u / 16, v / 11), c = colour(u / 16, v / 11);
            up += a * c, down += a, plain += c;
          }
        return down == 0 ? plain / (22.0 * width) : up / down;
      };
      worst = std::max(worst,
                       std::fabs(deep.at<std::uint16_t>(x, y, 0) -
                                 ratio(
                                     33, [&](int u, int v) { return 1.0 * words.at<std::uint16_t>(u, v, 0); },
                                     [&](int u, int v) { return 1.0 * words.at<std::uint16_t>(u, v, 1); })));
      worst_real = std::max(worst_real,
                            std::fabs(real.at<float>(x, y, 2) -
                                      ratio(
                                          32, [&](int u, int v) { return 1.0 * floats.at<float>(u, v, 2); },
                                          [&](int u, int v) { return 1.0 * floats.at<float>(u, v, 3); })));
      worst_light = std::max(
          worst_light,
          std::fabs(
              light.at<std::uint8_t>(x, y, 1) -
              255 * light_to_srgb(ratio(
                        32,
                        [&](int u, int v) { return srgb_to_light(bytes.at<std::uint8_t>(u, v, 1) / 255.0); },
                        [&](int u, int v) { return 1.0 * bytes.at<std::uint8_t>(u, v, 3); }))));
    }
  CHECK(worst <= 0.5 + 1e-6);
  CHECK(worst_real < 1e-6);
  CHECK(worst_light < 0.56);
}
