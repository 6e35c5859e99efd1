// Contours for the tests of the steps that look for near points, on quarters of px, and the square of a
// distance in whole sixteenths: a computation without rounding.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tests/stages/compare_contours.h"
#include "tests/stages/harness.h"

namespace contorno::test {

/// Walks of short steps, open and closed, that cross each other around (x, y) in `span` px. Class 1 is empty.
inline std::vector<TestContour> walking_contours(std::uint64_t seed, int classes, int each, int span,
                                                 double x = 0, double y = 0) {
  Random random(seed);
  std::vector<TestContour> contours;
  for (int k = 0; k < classes; ++k)
    for (int i = 0; i < (k == 1 ? 0 : each); ++i) {
      TestContour contour{k, false, {}};
      double at_x = x + random.below(4 * span) / 4.0, at_y = y + random.below(4 * span) / 4.0;
      const int points = 1 + random.below(i % 5 == 0 ? 60 : 9);
      for (int p = 0; p < points; ++p) {
        contour.points.emplace_back(at_x, at_y);
        at_x += (random.below(9) - 4) / 4.0, at_y += (random.below(9) - 4) / 4.0;
      }
      contour.closed = points > 1 && random.below(2) == 0;
      if (contour.closed) contour.points.push_back(contour.points.front());
      contours.push_back(contour);
    }
  return contours;
}

using TestPoint = std::pair<double, double>;

/// The square of the distance in sixteenths of px^2.
inline std::int64_t square_of(const TestPoint& a, const TestPoint& b) {
  const std::int64_t x = std::llround(4 * a.first) - std::llround(4 * b.first);
  const std::int64_t y = std::llround(4 * a.second) - std::llround(4 * b.second);
  return x * x + y * y;
}
/// The points of a contour without the repeated one.
inline std::vector<TestPoint> own_points_of(const TestContour& contour) {
  std::vector<TestPoint> points = contour.points;
  if (contour.closed && points.size() > 1) points.pop_back();
  return points;
}
/// The contour with these own points that remain; the second is false if it is gone.
inline std::pair<TestContour, bool> remains_of(const TestContour& contour,
                                               const std::vector<TestPoint>& points) {
  const bool enough = points.size() >= 3 || points.size() == own_points_of(contour).size();
  TestContour rest{contour.class_index, contour.closed && enough, points};
  if (rest.closed) rest.points.push_back(points.front());
  return {rest, !points.empty()};
}

/// Runs a stage on contours by 1 and 3 threads and compares with those that are wanted.
inline void check_contours(const StageType& type, const Settings& settings,
                           const std::vector<TestContour>& contours, const std::vector<TestContour>& wanted,
                           int classes) {
  const TestContours in(64, 64, classes, contours), out(64, 64, classes, wanted);
  for (const int threads : {1, 3}) {
    INFO(threads, " threads");
    StageHarness stage(type, settings);
    stage.threads(threads).run({in.view});
    CHECK(same_contours(std::get<ContoursView>(stage.value()), out.view));
  }
}

}  // namespace contorno::test
