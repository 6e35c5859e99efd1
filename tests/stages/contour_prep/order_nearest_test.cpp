// order_nearest against the paper's matrix of distances, on the CPU, and on the device where there is one
// (the harness compares).
#include "stages/contour_prep/order_nearest/stage.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/stages/compare_contours.h"
#include "tests/stages/contour_prep/reference.h"

using namespace contorno;
using namespace contorno::test;

namespace {

/// The least squared distance of two points; infinite where there is none.
double distance_of(const TestContour& a, const TestContour& b) {
  double least = std::numeric_limits<double>::infinity();
  for (const auto& [x, y] : a.points)
    for (const auto& [u, v] : b.points) {
      const double squared = (static_cast<float>(x) - static_cast<double>(static_cast<float>(u))) *
                                 (static_cast<float>(x) - static_cast<double>(static_cast<float>(u))) +
                             (static_cast<float>(y) - static_cast<double>(static_cast<float>(v))) *
                                 (static_cast<float>(y) - static_cast<double>(static_cast<float>(v)));
      if (squared < least) least = squared;
    }
  return least;
}

std::vector<TestContour> reference(std::vector<TestContour> left, int classes) {
  std::vector<TestContour> ordered;
  for (int k = 0; k < classes; ++k) {
    const auto of_class = [&](const TestContour& one) { return one.class_index == k; };
    auto next = std::find_if(left.begin(), left.end(), of_class);
    while (next != left.end()) {
      const TestContour current = *next;
      ordered.push_back(current);
      left.erase(next);
      next = left.end();
      double least = 0;
      for (auto one = left.begin(); one != left.end(); ++one) {
        if (!of_class(*one)) continue;
        const double distance = distance_of(current, *one);
        if (next == left.end() || distance < least) next = one, least = distance;
      }
    }
  }
  return ordered;
}

void check(const std::vector<TestContour>& contours, int classes) {
  const TestContours in(256, 256, classes, contours), wanted(256, 256, classes, reference(contours, classes));
  StageHarness stage(order_nearest_stage(), {});
  stage.run({in.view});
  stage.rerun();
  CHECK(same_contours(std::get<ContoursView>(stage.value()), wanted.view));
}

}  // namespace

TEST_CASE("each contour is followed by the nearest one that is left, and of several by the first") {
  for (const std::uint64_t seed : {1, 2, 3}) check(exact_contours(seed, 4, 60), 4);
  check(exact_contours(4, 1, 300), 1);
}

TEST_CASE("contours of one point on a grid have many equal distances") {
  Random random(5);
  std::vector<TestContour> contours;
  for (int i = 0; i < 500; ++i) contours.push_back({0, false, {{random.below(15), random.below(15)}}});
  check(contours, 1);
  check({contours.begin(), contours.begin() + 1}, 1);
  check({contours.begin(), contours.begin() + 2}, 1);
  check({}, 2);
  check(std::vector<TestContour>(40, contours[0]), 1);
}

TEST_CASE("long contours and such far outside the map are ordered by their nearest points") {
  Random random(6);
  std::vector<TestContour> contours;
  for (int i = 0; i < 40; ++i) {
    TestContour one{0, i % 2 == 0, {}};
    const double scale = i % 5 == 0 ? 1e6 : 200, x = (random.unit() - 0.5) * scale,
                 y = (random.unit() - 0.5) * scale;
    for (int p = 0; p < 1 + random.below(120); ++p)
      one.points.emplace_back(x + p * 0.75, y + random.unit() * 9);
    if (one.closed) one.points.push_back(one.points.front());
    contours.push_back(one);
  }
  check(contours, 1);
}

TEST_CASE("contours that no distance leads to follow in their order") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  check({{0, false, {{1, 1}}},
         {0, false, {{nan, 2}}},
         {0, false, {{9, 9}, {nan, nan}}},
         {0, false, {{far, 3}}},
         {0, false, {{2, 1}}},
         {0, false, {{nan, nan}}}},
        1);
  check({{0, false, {{nan, 1}}}, {0, false, {{5, 5}}}, {0, false, {{1, 1}}}, {0, false, {{4, 4}}}}, 1);
}
