// largest_first on the CPU, and on the device where there is one (the harness compares), against a reference
// that is written differently.
#include "stages/contour_prep/largest_first/stage.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

constexpr std::pair<ContourSize, const char*> kWaysToMeasure[] = {
    {ContourSize::Points, "points"}, {ContourSize::Length, "length"}, {ContourSize::Area, "area"}};

void check_against_reference(const std::vector<TestContour>& contours, int classes, int threads) {
  const TestContours in(64, 64, classes, contours);
  for (const auto& [by, name] : kWaysToMeasure)
    for (const int limit : {0, 1, 5, 1000}) {
      INFO("by ", name, ", limit ", limit, ", threads ", threads);
      StageHarness stage(largest_first_stage(), {{"by", std::string(name)}, {"limit", std::int64_t{limit}}});
      stage.threads(threads).run({in.view});
      const TestContours wanted(64, 64, classes, reference_largest_first(contours, classes, by, limit));
      CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
    }
}

}  // namespace

TEST_CASE("largest_first sorts by points, length and area, and keeps as many of each class as it is told") {
  for (const int threads : {1, 3}) check_against_reference(exact_contours(1, 4, 60), 4, threads);
  check_against_reference(exact_contours(2, 1, 1), 1, 1);
  check_against_reference({}, 3, 2);
}

TEST_CASE("a stage is applied to contours on their own as to images, and planned again when they are more") {
  const StageType& type = largest_first_stage();
  ParamSet params(type.params);
  params.set("by", std::string("length"));
  AppliedStage stage(type, params, Backend::Auto, 1);
  for (const int each : {5, 40, 5}) {
    const std::vector<TestContour> contours = exact_contours(7, 3, each);
    const TestContours in(64, 64, 3, contours);
    const Format format = in.format;
    stage.plan(std::span(&format, 1));
    const auto& to = std::get<ContoursView>(stage.input(0));
    REQUIRE(packed_bytes(to.format) == packed_bytes(in.format));
    std::memcpy(to.counts, in.view.counts, packed_bytes(in.format));
    stage.run();
    const TestContours wanted(64, 64, 3, reference_largest_first(contours, 3, ContourSize::Length, 0));
    CHECK(same_contours(std::get<ContoursView>(stage.output(0)), wanted.view));
  }
}

TEST_CASE("contours of one size keep their order, and holes count by what they enclose") {
  const std::vector<TestContour> contours{
      {0, true, {{0, 0}, {2, 0}, {2, 2}, {0, 2}, {0, 0}}},      // 4 px^2
      {0, true, {{9, 9}, {9, 12}, {12, 12}, {12, 9}, {9, 9}}},  // 9 px^2, the other way round
      {0, true, {{5, 5}, {7, 5}, {7, 7}, {5, 7}, {5, 5}}},      // 4 px^2
      {0, false, {{0, 0}, {50, 0}, {50, 50}, {0, 50}, {0, 1}}}};
  const TestContours in(64, 64, 1, contours);
  StageHarness stage(largest_first_stage(), {});
  stage.run({in.view});
  const TestContours wanted(64, 64, 1, {contours[1], contours[0], contours[2], contours[3]});
  CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
}

TEST_CASE("points that are no numbers or beyond all images add nothing to the size of their contour") {
  const double far = std::numeric_limits<float>::max(), nan = std::nan("");
  // The numbers of points fall, what can be measured grows.
  const std::vector<TestContour> contours{{0, true, {{0, 0}, {far, far}, {-far, 3}, {far, 0}, {0, 0}}},
                                          {0, true, {{0, 0}, {nan, 0}, {1, 1}, {0, 0}}},
                                          {0, true, {{0, 0}, {9, 0}, {0, 0}}}};
  const TestContours in(64, 64, 1, contours);
  const auto order_by = [&](const char* name) {
    StageHarness stage(largest_first_stage(), {{"by", std::string(name)}});
    stage.run({in.view});
    const auto& out = std::get<ContoursView>(stage.value());
    std::vector<std::uint32_t> lengths;
    for (std::uint64_t i = 0; i < out.counts->contours; ++i)
      lengths.push_back(out.offsets[i + 1] - out.offsets[i]);
    return lengths;
  };
  CHECK(order_by("points") == std::vector<std::uint32_t>{5, 4, 3});
  CHECK(order_by("length") == std::vector<std::uint32_t>{3, 4, 5});  // 18 px, the square root of 2, nothing
  CHECK(order_by("area") == std::vector<std::uint32_t>{5, 4, 3});    // none has an area: as they were
}

TEST_CASE("the part of a segment is the nearest multiple of the unit, above and below zero") {
  constexpr float kUnit = 1.0F / (1 << 20);
  CHECK(segment_length({0, 0}, {0, 1.4F * kUnit}) == 1);
  CHECK(segment_length({0, 0}, {1.6F * kUnit, 0}) == 2);
  CHECK(segment_length({7, 7}, {10, 11}) == 5 << 20);
  CHECK(twice_triangle_area({}, {0, 1}, {1.6F * kUnit, 1}) == 2);   // twice a triangle of base 1
  CHECK(twice_triangle_area({}, {1.6F * kUnit, 1}, {0, 1}) == -2);  // the other way round
  CHECK(twice_triangle_area({5, 5}, {5, 9}, {8, 9}) == 12 << 20);
  CHECK(size_in_units(ContourSize::Area, static_cast<std::uint64_t>(-7), 4, true) == 7);
  CHECK(size_in_units(ContourSize::Area, 7, 4, false) == 0);
  CHECK(size_in_units(ContourSize::Length, 1ULL << 60, 4, true) == (1ULL << kSizeBits) - 1);
}

TEST_CASE("more classes than fit into a key are refused with a sentence") {
  const TestContours in(8, 8, kMostSizedClasses + 1, {});
  StageHarness stage(largest_first_stage(), {});
  CHECK_THROWS_WITH_AS(stage.run({in.view}),
                       "largest_first: contours of 1025 classes were given, allowed up to 1024", Error);
}

TEST_CASE("largest_first moves only the largest of each class where it is told so") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    const int classes = 1 + static_cast<int>(seed % 3);
    const std::vector<TestContour> contours = exact_contours(seed, classes, static_cast<int>(seed * 4));
    for (const auto& [by, name] : kWaysToMeasure)
      for (const int limit : {0, 1, 3}) {
        // The largest of each class, and behind it all others as they were.
        std::vector<TestContour> wanted;
        for (const TestContour& largest : reference_largest_first(contours, classes, by, 1)) {
          const std::size_t begin = wanted.size();
          wanted.push_back(largest);
          bool passed = false;
          for (const TestContour& one : contours) {
            if (one.class_index != largest.class_index) continue;
            const bool same = !passed && one.points == largest.points && one.closed == largest.closed;
            passed = passed || same;
            if (!same) wanted.push_back(one);
          }
          if (limit > 0) wanted.resize(std::min(wanted.size(), begin + static_cast<std::size_t>(limit)));
        }
        const TestContours in(64, 64, classes, contours), expected(64, 64, classes, wanted);
        StageHarness stage(largest_first_stage(),
                           {{"by", std::string(name)}, {"only_first", true}, {"limit", std::int64_t{limit}}});
        stage.run({in.view});
        INFO("seed ", seed, " by ", name, ", limit ", limit);
        CHECK(same_contours(std::get<ContoursView>(stage.value()), expected.view));
      }
  }
}
