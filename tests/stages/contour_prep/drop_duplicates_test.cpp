// drop_duplicates on the CPU, and on the device where there is one (the harness compares), against a
// reference that compares each point with all earlier ones.
#include "stages/contour_prep/drop_duplicates/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "base/error.h"
#include "tests/stages/contour_prep/near_points.h"

using namespace contorno;
using namespace contorno::test;

namespace {

Settings settings(double distance, bool any_earlier = false) {
  return {{"distance", distance}, {"rule", std::string(any_earlier ? "any_earlier" : "kept_earlier")}};
}

/// `distance` is a multiple of a quarter px.
std::vector<TestContour> reference(const std::vector<TestContour>& contours, double distance,
                                   bool any_earlier) {
  const std::int64_t square = std::max<std::int64_t>(std::llround(16 * distance * distance), 1);
  std::vector<TestContour> kept;
  std::vector<std::pair<int, TestPoint>> droppers;
  for (const TestContour& contour : contours) {
    std::vector<TestPoint> rest;
    for (const TestPoint& point : own_points_of(contour)) {
      const bool dropped = std::any_of(droppers.begin(), droppers.end(), [&](const auto& earlier) {
        return earlier.first == contour.class_index && square_of(earlier.second, point) < square;
      });
      if (!dropped) rest.push_back(point);
      if (!dropped || any_earlier) droppers.emplace_back(contour.class_index, point);
    }
    if (const auto [remains, any] = remains_of(contour, rest); any) kept.push_back(remains);
  }
  return kept;
}

/// Open contours of one point each.
std::vector<TestContour> single_points(const std::vector<TestPoint>& points) {
  std::vector<TestContour> contours;
  for (const TestPoint& point : points) contours.push_back({0, false, {point}});
  return contours;
}

}  // namespace

TEST_CASE("drop_duplicates keeps the points that a comparison of all pairs keeps, by both rules") {
  for (const double distance : {0.0, 0.25, 1.0, 1.5, 2.25, 40.0})
    for (const bool any_earlier : {false, true})
      for (const int each : {1, 40}) {
        INFO("distance ", distance, ", any_earlier ", any_earlier, ", ", each, " contours a class");
        const std::vector<TestContour> contours =
            walking_contours(static_cast<std::uint64_t>(each) + 3, 4, each, 24, -9, -5);
        const std::vector<TestContour> wanted = reference(contours, distance, any_earlier);
        check_contours(drop_duplicates_stage(), settings(distance, any_earlier), contours, wanted, 4);
      }
}

TEST_CASE("drop_duplicates finds near points far from the map, where squares need more than 32 bits") {
  for (const auto& [x, y] : {TestPoint{-90000, 120000}, {1000000, -46345}, {46330, 46335}}) {
    std::vector<TestContour> contours = walking_contours(5, 1, 30, 20, x, y);
    for (const TestContour& near : walking_contours(6, 1, 30, 20)) contours.push_back(near);
    check_contours(drop_duplicates_stage(), settings(2), contours, reference(contours, 2, false), 1);
    check_contours(drop_duplicates_stage(), settings(2e5), contours, reference(contours, 2e5, false), 1);
  }
}

TEST_CASE("drop_duplicates keeps points at the distance, and no point that is nearer") {
  const auto contours = single_points({{0, 0}, {2, 0}, {2, 1.75}, {3.75, 0}, {0, -2}, {0, -1.9999999}});
  const auto wanted = single_points({{0, 0}, {2, 0}, {0, -2}});
  check_contours(drop_duplicates_stage(), settings(2), contours, wanted, 1);
  check_contours(drop_duplicates_stage(), settings(2), {}, {}, 3);
  check_contours(drop_duplicates_stage(), settings(2), single_points({{5, 7}}), single_points({{5, 7}}), 1);
}

TEST_CASE("drop_duplicates takes equal points for duplicates where nothing is nearer than the distance") {
  const double least = std::numeric_limits<float>::denorm_min(), most = std::numeric_limits<float>::max();
  const auto contours = single_points({{0, 0},
                                       {-0.0, 0},
                                       {least, 0},
                                       {least, -0.0},
                                       {most, -most},
                                       {7, 0},
                                       {std::nextafter(7.0F, 8.0F), 0},
                                       {most, -most},
                                       {7, 0}});
  const auto wanted =
      single_points({{0, 0}, {least, 0}, {most, -most}, {7, 0}, {std::nextafter(7.0F, 8.0F), 0}});
  for (const bool any_earlier : {false, true})
    check_contours(drop_duplicates_stage(), settings(0, any_earlier), contours, wanted, 1);
}

TEST_CASE("drop_duplicates keeps points that are not finite: nothing is near them") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto contours =
      single_points({{nan, 1}, {inf, 1}, {1, nan}, {inf, 1}, {-inf, inf}, {nan, 1}, {1, 1}, {1, 1}});
  const auto wanted = single_points({{nan, 1}, {inf, 1}, {1, nan}, {inf, 1}, {-inf, inf}, {nan, 1}, {1, 1}});
  for (const double distance : {0.0, 5.0, 1e9})
    check_contours(drop_duplicates_stage(), settings(distance), contours, wanted, 1);
}

TEST_CASE("drop_duplicates goes through many points in one place, in a line and apart") {
  constexpr int kMany = 100000;
  const std::vector<TestContour> same(kMany, {0, false, {{17.25, 4}}});
  std::vector<TestContour> line, apart;
  TestContour one{0, true, {}}, half{0, true, {}};
  for (int i = 0; i < kMany; ++i) {
    one.points.emplace_back(i / 2.0, 9);
    if (i % 2 == 0) half.points.emplace_back(i / 2.0, 9);
    apart.push_back({0, false, {{i % 317, i / 317}}});
  }
  for (TestContour* contour : {&one, &half}) contour->points.push_back(contour->points.front());
  for (const bool any_earlier : {false, true}) {
    check_contours(drop_duplicates_stage(), settings(1, any_earlier), same, {same[0]}, 1);
    check_contours(drop_duplicates_stage(), settings(1, any_earlier), apart, apart, 1);
  }
  check_contours(drop_duplicates_stage(), settings(1), {one}, {half}, 1);
  check_contours(drop_duplicates_stage(), settings(1, true), {one}, {{0, false, {{0, 9}}}}, 1);
}

TEST_CASE("drop_duplicates by kept_earlier changes nothing when it is applied again") {
  const TestContours in(64, 64, 3, walking_contours(21, 3, 50, 30));
  StageHarness once(drop_duplicates_stage(), settings(1.75)), twice(drop_duplicates_stage(), settings(1.75));
  once.run({in.view});
  const auto& first = std::get<ContoursView>(once.value());
  CHECK(first.counts->points < in.view.counts->points / 2);
  twice.run({first});
  CHECK(same_contours(std::get<ContoursView>(twice.value()), first));
}

TEST_CASE("drop_duplicates refuses distances below 0 and rules that it does not know") {
  const auto refused = [](const char* name, const ParamValue& value) {
    return StageHarness(drop_duplicates_stage(), {{name, value}});
  };
  CHECK_THROWS_WITH_AS(refused("distance", -0.5), "distance is -0.5, allowed 0 to 1000000000 px", Error);
  CHECK_THROWS_WITH_AS(refused("distance", std::nan("")), doctest::Contains("distance is"), Error);
  CHECK_THROWS_WITH_AS(refused("rule", std::string("any")),
                       "rule is any, allowed one of kept_earlier, any_earlier", Error);
}
