// merge_close on the CPU, and on the device where there is one (the harness compares), against a reference
// that compares all pairs of points and repeats until nothing changes.
#include "stages/contour_prep/merge_close/stage.h"

#include <doctest/doctest.h>

#include <limits>
#include <numeric>

#include "base/error.h"
#include "tests/stages/contour_prep/near_points.h"

using namespace contorno;
using namespace contorno::test;

namespace {

bool are_close(const TestContour& a, const TestContour& b, double distance) {
  const std::int64_t square = std::llround(16 * distance * distance);
  if (a.class_index != b.class_index) return false;
  for (const TestPoint& one : own_points_of(a))
    for (const TestPoint& other : own_points_of(b))
      if (square_of(one, other) < square) return true;
  return false;
}

/// `distance` is a multiple of a quarter px.
std::vector<TestContour> reference(const std::vector<TestContour>& contours, double distance) {
  std::vector<std::size_t> label(contours.size());
  std::iota(label.begin(), label.end(), std::size_t{0});
  std::vector<std::pair<std::size_t, std::size_t>> close;
  for (std::size_t i = 0; i < contours.size(); ++i)
    for (std::size_t j = i + 1; j < contours.size(); ++j)
      if (are_close(contours[i], contours[j], distance)) close.emplace_back(i, j);
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [i, j] : close)
      if (label[i] != label[j]) label[i] = label[j] = std::min(label[i], label[j]), changed = true;
  }
  std::vector<TestContour> joined;
  for (std::size_t i = 0; i < contours.size(); ++i) {
    if (label[i] != i) continue;
    TestContour one = contours[i];
    if (std::count(label.begin(), label.end(), i) > 1) {
      one = {contours[i].class_index, false, {}};
      for (std::size_t j = i; j < contours.size(); ++j)
        if (label[j] == i)
          for (const TestPoint& point : own_points_of(contours[j])) one.points.push_back(point);
    }
    joined.push_back(one);
  }
  return joined;
}

Settings merge_settings(double distance) {
  return {{"distance", distance}};
}

}  // namespace

TEST_CASE("merge_close joins the contours that a comparison of all pairs of points joins") {
  std::size_t alone = 0, joined = 0;
  for (const double distance : {0.01, 0.25, 1.0, 1.5, 2.25, 5.0, 200.0})
    for (const int each : {1, 25, 60}) {
      INFO("distance ", distance, ", ", each, " contours a class");
      const std::vector<TestContour> contours =
          walking_contours(static_cast<std::uint64_t>(each), 4, each, 70, -9, -5);
      // Points are on quarters of px: by less only equal ones are near.
      const std::vector<TestContour> wanted = reference(contours, std::max(distance, 0.25));
      alone += wanted.size() == contours.size() ? 1 : 0, joined += wanted.size() == 3 ? 1 : 0;
      check_contours(merge_close_stage(), merge_settings(distance), contours, wanted, 4);
    }
  CHECK(alone > 3);
  CHECK(joined > 3);
}

TEST_CASE("merge_close finds near contours far from the map, where squares need more than 32 bits") {
  for (const auto& [x, y] : {TestPoint{-90000, 120000}, {1000000, -46345}, {46330, 46335}}) {
    std::vector<TestContour> contours = walking_contours(5, 1, 20, 60, x, y);
    for (const TestContour& near : walking_contours(6, 1, 20, 60)) contours.push_back(near);
    for (const double distance : {3.0, 2e5})
      check_contours(merge_close_stage(), merge_settings(distance), contours, reference(contours, distance),
                     1);
  }
}

TEST_CASE(
    "merge_close joins through contours between, in the order of their numbers, without closing points") {
  const TestContour square{0, true, {{0, 0}, {4, 0}, {4, 4}, {0, 0}}},
      far{0, true, {{90, 0}, {94, 0}, {90, 4}, {90, 0}}};
  const TestContour right{0, false, {{10, 0}, {12, 0}}}, between{0, false, {{6, 1}, {8, 1}}};
  const TestContour all{0, false, {{0, 0}, {4, 0}, {4, 4}, {10, 0}, {12, 0}, {6, 1}, {8, 1}}};
  check_contours(merge_close_stage(), merge_settings(3), {square, far, right, between}, {all, far}, 1);
  // At the distance is not nearer.
  const TestContour a{0, false, {{1, 1}}}, b{0, false, {{4, 5}}}, both{0, false, {{1, 1}, {4, 5}}};
  check_contours(merge_close_stage(), merge_settings(5), {a, b}, {a, b}, 1);
  check_contours(merge_close_stage(), merge_settings(5.0000001), {a, b}, {both}, 1);
  check_contours(merge_close_stage(), merge_settings(3), {}, {}, 3);
  check_contours(merge_close_stage(), merge_settings(3), {square}, {square}, 1);
}

TEST_CASE("merge_close joins contours with equal points by the least distance") {
  const TestContour a{0, false, {{1, 2}}}, b{0, false, {{1, 2}, {1, 3}}}, other{1, false, {{1, 2}}};
  const TestContour both{0, false, {{1, 2}, {1, 2}, {1, 3}}};
  check_contours(merge_close_stage(), merge_settings(0.001), {a, b, other}, {both, other}, 2);
}

TEST_CASE("merge_close leaves points alone that are not finite: nothing is near them") {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const std::vector<TestContour> contours{{0, false, {{nan, 1}}},
                                          {0, false, {{inf, 1}}},
                                          {0, false, {{inf, 1}, {nan, 1}}},
                                          {0, false, {{1, nan}, {5, 5}}},
                                          {0, false, {{5, 5}, {inf, 1}}}};
  const TestContour joined{0, false, {{1, nan}, {5, 5}, {5, 5}, {inf, 1}}};
  for (const double distance : {0.25, 1e9})
    check_contours(merge_close_stage(), merge_settings(distance), contours,
                   {contours[0], contours[1], contours[2], joined}, 1);
}

TEST_CASE("merge_close goes through many contours of one point, in one place, in a line and apart") {
  constexpr int kMany = 100000;
  const std::vector<TestContour> same(kMany, {0, false, {{17.25, 4}}});
  std::vector<TestContour> line, apart;
  TestContour whole_line{0, false, {}};
  // The line is not in order: the contours of its second half come first.
  for (int i = 0; i < kMany; ++i) {
    line.push_back({0, false, {{(i + kMany / 2) % kMany / 2.0, 9}}});
    whole_line.points.push_back(line.back().points[0]);
    apart.push_back({0, false, {{i % 317, i / 317}}});
  }
  check_contours(merge_close_stage(), merge_settings(1), same,
                 {{0, false, std::vector<TestPoint>(kMany, {17.25, 4})}}, 1);
  check_contours(merge_close_stage(), merge_settings(1), line, {whole_line}, 1);
  check_contours(merge_close_stage(), merge_settings(1), apart, apart, 1);
}

TEST_CASE("merge_close refuses distances below a thousandth of a px") {
  for (const double distance : {-1.0, 0.0})
    CHECK_THROWS_WITH_AS(StageHarness(merge_close_stage(), merge_settings(distance)),
                         doctest::Contains("allowed 0.001 to 1000000000 px"), Error);
}
