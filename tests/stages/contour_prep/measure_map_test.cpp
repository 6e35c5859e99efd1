// measure_map on the CPU, and on the device where there is one (the harness compares), against every sample
// tried in every contour, and what becomes of what has no samples.
#include "stages/contour_prep/measure_map/stage.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/map_regions.h"

using namespace contorno;
using namespace contorno::test;

namespace {

TestImage random_map(const ImageFormat& format, std::uint64_t seed) {
  Random random(seed);
  return with_sample_type(format.type, [&]<class T>(const T*) {
    if constexpr (std::is_floating_point_v<T>)
      return filled_image<T>(
          format, [&](int, int, int) { return random.below(20) == 0 ? std::nan("") : random.unit() - 0.25; },
          12);
    else if constexpr (std::is_same_v<T, Half>)
      // Any binary16 below 2, of either sign.
      return filled_image<Half>(
          format,
          [&](int, int, int) {
            return Half{static_cast<std::uint16_t>(random.below(0x4000) | random.below(2) << 15)};
          },
          12);
    else
      return filled_image<T>(
          format, [&](int, int, int) { return random.below(1 << 8 * sizeof(T)); }, 12);
  });
}

void check(const ContoursView& made, const std::vector<ReferenceMeasures>& wanted) {
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    INFO("contour ", i);
    CHECK(made.column(Attribute::Samples)[i] == wanted[i].samples);
    const double mean = made.column(Attribute::Mean)[i], maximum = made.column(Attribute::Maximum)[i];
    if (wanted[i].samples == 0) {
      CHECK(std::isnan(mean));
      CHECK(std::isnan(maximum));
    } else {
      CHECK(mean == doctest::Approx(static_cast<double>(wanted[i].sum) / wanted[i].samples).epsilon(1e-12));
      CHECK(maximum == wanted[i].greatest);
    }
  }
}

/// Of one class, on a map of 12 x 9 whose sample at (x, y) is x + 100 y.
class OnSmallMap {
 public:
  explicit OnSmallMap(std::vector<TestContour> contours)
      : in_(12, 9, 1, contours),
        map_(filled_image<float>({.width = 12, .height = 9, .channels = 1, .type = ElementType::F32},
                                 [](int x, int y, int) { return x + 100 * y; })),
        stage_(measure_map_stage(), {}) {
    stage_.run({in_.view, map_.view});
  }
  double operator()(Attribute attribute, std::uint32_t contour = 0) const {
    return std::get<ContoursView>(stage_.value()).column(attribute)[contour];
  }

 private:
  TestContours in_;
  TestImage map_;
  StageHarness stage_;
};

TestContour rectangle(double left, double top, double right, double bottom) {
  return {0, true, {{left, top}, {right, top}, {right, bottom}, {left, bottom}, {left, top}}};
}

}  // namespace

TEST_CASE("measure_map finds what every sample tried in every contour says, in maps of any type and layout") {
  const std::vector<TestContour> contours = contours_on_map(31);
  const TestContours in(160, 140, 3, contours);
  const std::vector<Inside> regions = reference_regions(contours, 160, 140);
  for (const ElementType type : {ElementType::F32, ElementType::U8, ElementType::U16, ElementType::F16})
    for (const Layout layout : {Layout::Planar, Layout::Interleaved}) {
      INFO(name_of(type), " ", name_of(layout));
      const TestImage map =
          random_map({.width = 160, .height = 140, .channels = 3, .type = type, .layout = layout}, 5);
      StageHarness stage(measure_map_stage(), {});
      stage.threads(layout == Layout::Planar ? 1 : 3).run({in.view, map.view});
      check(std::get<ContoursView>(stage.value()), reference_measures(contours, regions, map.view));
    }
}

TEST_CASE("measure_map: every sample below contours nested 64 deep is inside of one of them") {
  std::vector<TestContour> contours;
  add_nested(contours, 0, 80.25, 70.375, 64);
  const TestContours in(160, 140, 1, contours);
  const TestImage map = random_map({.width = 160, .height = 140, .channels = 1, .type = ElementType::U8}, 6);
  StageHarness stage(measure_map_stage(), {});
  stage.run({in.view, map.view});
  const auto& made = std::get<ContoursView>(stage.value());
  for (std::uint32_t i = 0; i < 64; ++i) {
    const int half = 64 - static_cast<int>(i);
    CHECK(made.column(Attribute::Samples)[i] == 4 * (half * half - (half - 1) * (half - 1)));
  }
}

TEST_CASE("measure_map: samples on a contour are inside at its right and its top alone") {
  const OnSmallMap of({rectangle(2, 3, 5, 5), rectangle(5, 3, 8, 5)});  // side by side
  CHECK(of(Attribute::Samples, 0) == 6);
  CHECK(of(Attribute::Mean, 0) == 4 + 350);
  CHECK(of(Attribute::Maximum, 0) == 405);
  CHECK(of(Attribute::Samples, 1) == 6);
  CHECK(of(Attribute::Mean, 1) == 7 + 350);
  // The map's last column and row are inside where the contour goes along the map's outer edge.
  const OnSmallMap whole({rectangle(-0.5, -0.5, 11.5, 8.5)});
  CHECK(whole(Attribute::Samples) == 12 * 9);
  CHECK(whole(Attribute::Maximum) == 811);
  CHECK(whole(Attribute::Mean) == doctest::Approx(5.5 + 400));
}

TEST_CASE(
    "measure_map: the part of a contour beyond the map has no samples, and a crossed part counts once") {
  const OnSmallMap of({rectangle(-50, -1000, 1.5, 1.5),
                       rectangle(8.5, 6.5, 1e6, 1e6),
                       rectangle(30, 2, 40, 6),
                       {0, true, {{2.5, 2.5}, {6.5, 6.5}, {6.5, 2.5}, {2.5, 6.5}, {2.5, 2.5}}}});
  CHECK(of(Attribute::Samples, 0) == 4);
  CHECK(of(Attribute::Maximum, 0) == 101);
  CHECK(of(Attribute::Samples, 1) == 6);
  CHECK(of(Attribute::Samples, 2) == 0);
  CHECK(std::isnan(of(Attribute::Mean, 2)));
  CHECK(of(Attribute::Samples, 3) == 8);  // both halves of a bow
}

TEST_CASE("measure_map: a sample that is no number does not count, and infinite ones do") {
  const TestContours in(4, 1, 1, {rectangle(-0.5, -0.5, 3.5, 0.5)});
  const auto measured = [&](const std::array<float, 4>& samples) {
    const TestImage map =
        filled_image<float>({.width = 4, .height = 1, .channels = 1, .type = ElementType::F32},
                            [&](int x, int, int) { return samples[static_cast<std::size_t>(x)]; });
    StageHarness stage(measure_map_stage(), {});
    stage.run({in.view, map.view});
    const auto& made = std::get<ContoursView>(stage.value());
    return std::array{made.column(Attribute::Samples)[0], made.column(Attribute::Mean)[0],
                      made.column(Attribute::Maximum)[0]};
  };
  const float nan = std::nanf(""), infinite = HUGE_VALF;
  CHECK(measured({nan, -1, -3, nan}) == std::array{2.0, -2.0, -1.0});
  CHECK(std::isnan(measured({nan, nan, nan, nan})[1]));
  CHECK(measured({-infinite, 1, 2, 3})[1] == -infinite);
  CHECK(measured({-infinite, -infinite, nan, nan})[2] == -infinite);
  CHECK(std::isnan(measured({-infinite, infinite, 2, 3})[1]));
  CHECK_FALSE(std::signbit(measured({-0.0F, -0.0F, nan, nan})[2]));
}

TEST_CASE("measure_map takes frames without contours, and ones with more crossings than were planned for") {
  const TestImage map = random_map({.width = 160, .height = 140, .channels = 3, .type = ElementType::F32}, 7);
  const TestContours none(160, 140, 3, {});
  StageHarness empty(measure_map_stage(), {});
  empty.run({none.view, map.view});
  CHECK(std::get<ContoursView>(empty.value()).counts->contours == 0);
  const std::vector<TestContour> contours = contours_on_map(32);
  const TestContours in(160, 140, 3, contours);
  StageHarness stage(measure_map_stage(), {});
  stage.first_capacity(10).run({in.view, map.view});
  CHECK(stage.regrown() == 1);
  check(std::get<ContoursView>(stage.value()),
        reference_measures(contours, reference_regions(contours, 160, 140), map.view));
}

TEST_CASE("measure_map refuses maps that are not those of the contours") {
  const TestContours in(160, 140, 3, contours_on_map(33));
  for (const auto& [width, height, channels] : {std::array{159, 140, 3}, {160, 141, 3}, {160, 140, 2}}) {
    const TestImage map({.width = width, .height = height, .channels = channels, .type = ElementType::U8});
    StageHarness stage(measure_map_stage(), {});
    CHECK_THROWS_WITH_AS(
        stage.run({in.view, map.view}),
        doctest::Contains(
            "the contours are of maps of 160x140 with 3 classes, and the maps that were given are"),
        Error);
  }
}
