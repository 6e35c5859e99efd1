// Contours that lie in each other, and a plain way to say which: by the angle under which a contour is seen
// from a point, for every pair.
#pragma once

#include <cmath>
#include <numbers>

#include "tests/stages/contour_prep/reference.h"

namespace contorno::test {

/// Squares around (x, y) with half-sides `depth`, `depth` - 1 and so on to 1, every second one the other way
/// round.
inline void add_nested(std::vector<TestContour>& contours, int of_class, double x, double y, int depth) {
  for (int half = depth; half > 0; --half) {
    TestContour square{of_class,
                       true,
                       {{x - half, y - half},
                        {x + half, y - half},
                        {x + half, y + half},
                        {x - half, y + half},
                        {x - half, y - half}}};
    if ((depth - half) % 2 != 0) std::reverse(square.points.begin(), square.points.end());
    contours.push_back(square);
  }
}

/// Contours of three classes, the second of which has none: nested 64 deep and less, some that touch others
/// at a corner, open ones, ones without area, points, and one without points.
inline std::vector<TestContour> nested_contours(std::uint64_t seed) {
  Random random(seed);
  std::vector<TestContour> contours;
  for (const int of_class : {0, 2}) {
    add_nested(contours, of_class, 100, 100, 64);
    for (int i = 0; i < 60; ++i)
      add_nested(contours, of_class, 200 + 9 * (i % 8), 20 + 9 * (i / 8), 1 + random.below(4));
    contours.push_back({of_class, true, {{36, 36}, {36.75, 36.25}, {36.25, 36.75}, {36, 36}}});  // touches
    contours.push_back({of_class, false, {{90, 90}, {110, 110}, {120, 90}}});
    contours.push_back({of_class, true, {{95.5, 95.5}}});
    contours.push_back({of_class, true, {{99, 100.25}, {101, 100.25}, {99, 100.25}}});
    contours.push_back({of_class, false, {}});
    contours.push_back({of_class, true, {{-40, -30}, {400, -30}, {400, 300000}, {-40, 300000}, {-40, -30}}});
  }
  return contours;
}

inline long double enclosed(const TestContour& contour) {
  return reference_size(contour, ContourSize::Area);
}

/// Whether the middle of the first segment of `inner` is inside of `outer`.
inline bool lies_in(const TestContour& inner, const TestContour& outer) {
  if (inner.points.empty() || inner.class_index != outer.class_index) return false;
  if (!(enclosed(outer) > enclosed(inner))) return false;
  const auto& [ax, ay] = inner.points[0];
  const auto& [bx, by] = inner.points[inner.points.size() > 1 ? 1 : 0];
  const long double x = (ax + bx) / 2.0L, y = (ay + by) / 2.0L;
  long double turned = 0;
  for (std::size_t i = 1; i < outer.points.size(); ++i) {
    const long double from = std::atan2(outer.points[i - 1].second - y, outer.points[i - 1].first - x);
    const long double to = std::atan2(outer.points[i].second - y, outer.points[i].first - x);
    turned += std::remainder(to - from, 2 * std::numbers::pi_v<long double>);
  }
  return std::abs(turned) > 1;
}

}  // namespace contorno::test
