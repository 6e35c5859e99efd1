// drop_small on the CPU, and on the device where there is one (the harness compares), against sizes that are
// computed differently.
#include "stages/contour_prep/drop_small/stage.h"

#include <doctest/doctest.h>

#include "base/error.h"
#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

std::vector<TestContour> large_enough(const std::vector<TestContour>& contours, int points, double length,
                                      double area) {
  std::vector<TestContour> kept;
  for (const TestContour& contour : contours)
    if (reference_size(contour, ContourSize::Points) >= points &&
        reference_size(contour, ContourSize::Length) >= length &&
        reference_size(contour, ContourSize::Area) >= area)
      kept.push_back(contour);
  return kept;
}

}  // namespace

TEST_CASE("drop_small keeps the contours that have enough points, length and area") {
  constexpr int kClasses = 4;
  const std::vector<TestContour> contours = exact_contours(11, kClasses, 60);
  const TestContours in(64, 64, kClasses, contours);
  std::size_t fewest = contours.size(), most = 0;
  for (const int points : {0, 1, 6, 1000})
    for (const double length : {0.0, 12.25, 1e6})
      for (const double area : {0.0, 3.75, 40.0})
        for (const int threads : {1, 3}) {
          INFO("points ", points, ", length ", length, ", area ", area, ", threads ", threads);
          StageHarness stage(
              drop_small_stage(),
              {{"min_points", std::int64_t{points}}, {"min_length", length}, {"min_area", area}});
          stage.threads(threads).run({in.view});
          const std::vector<TestContour> kept = large_enough(contours, points, length, area);
          fewest = std::min(fewest, kept.size()), most = std::max(most, kept.size());
          const TestContours wanted(64, 64, kClasses, kept);
          CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
        }
  CHECK(fewest == 0);
  CHECK(most == contours.size());
}

TEST_CASE("drop_small keeps contours of 10 points and more where nothing else is said") {
  std::vector<TestContour> contours;
  for (const int points : {9, 10, 11}) {
    TestContour& contour = contours.emplace_back();
    for (int i = 0; i < points; ++i) contour.points.emplace_back(i, points);
  }
  const TestContours in(64, 64, 1, contours), wanted(64, 64, 1, {contours[1], contours[2]});
  StageHarness stage(drop_small_stage(), {});
  stage.run({in.view});
  CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
}

TEST_CASE("drop_small refuses sizes below 0") {
  const auto refused = [](const char* name, const ParamValue& value) {
    return StageHarness(drop_small_stage(), {{name, value}});
  };
  CHECK_THROWS_WITH_AS(refused("min_points", std::int64_t{-1}),
                       "min_points is -1, allowed a whole number, 0 to 1000000000", Error);
  CHECK_THROWS_WITH_AS(refused("min_area", -0.5), "min_area is -0.5, allowed 0 to 1000000000", Error);
}
