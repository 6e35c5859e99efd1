// largest_first written differently: sizes by the trapezoid formula in long double, and a stable sort of the
// contours of a class. Random contours whose sizes are exact in both ways of computing them.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "stages/contour_prep/largest_first/stage.h"
#include "tests/stages/harness.h"

namespace contorno::test {

inline long double reference_size(const TestContour& contour, ContourSize by) {
  const auto& p = contour.points;
  if (by == ContourSize::Points) return static_cast<long double>(p.size());
  long double length = 0, area = 0;
  for (std::size_t i = 0; i + 1 < p.size(); ++i) {
    const long double dx = p[i + 1].first - p[i].first, dy = p[i + 1].second - p[i].second;
    length += std::hypot(dx, dy);
    area += dx * (p[i + 1].second + p[i].second) / 2;
  }
  if (by == ContourSize::Length) return length;
  return contour.closed ? std::fabs(area) : 0;
}

inline std::vector<TestContour> reference_largest_first(const std::vector<TestContour>& contours, int classes,
                                                        ContourSize by, int limit) {
  std::vector<TestContour> all;
  for (int k = 0; k < classes; ++k) {
    std::vector<TestContour> one;
    for (const TestContour& contour : contours)
      if (contour.class_index == k) one.push_back(contour);
    std::stable_sort(one.begin(), one.end(), [&](const TestContour& a, const TestContour& b) {
      return reference_size(a, by) > reference_size(b, by);
    });
    if (limit > 0 && one.size() > static_cast<std::size_t>(limit))
      one.resize(static_cast<std::size_t>(limit));
    all.insert(all.end(), one.begin(), one.end());
  }
  return all;
}

/// Contours along axes and diagonals of triangles with sides 3, 4 and 5, on quarters of px: lengths and areas
/// are exact. Many have the same size. Class 1 is empty; one contour has a single point.
inline std::vector<TestContour> exact_contours(std::uint64_t seed, int classes, int each) {
  static constexpr std::pair<double, double> kSteps[] = {
      {1, 0}, {0, 1}, {-1, 0}, {0, -1}, {3, 4}, {-4, 3}, {-0.75, 1}, {0.25, 0}, {0, .5}, {1.5, -2.0}};
  Random random(seed);
  std::vector<TestContour> contours;
  for (int k = 0; k < classes; ++k)
    for (int i = 0; i < (k == 1 ? 0 : each); ++i) {
      TestContour contour{k, false, {{random.below(200) / 4.0, random.below(200) / 4.0}}};
      const int steps = i == 3 ? 0 : 1 + random.below(i % 7 == 0 ? 400 : 12);
      for (int s = 0; s < steps; ++s) {
        const auto [dx, dy] = kSteps[random.below(10)];
        contour.points.emplace_back(contour.points.back().first + dx, contour.points.back().second + dy);
      }
      // Back to the first point along the axes.
      contour.closed = random.below(3) != 0 && steps > 2;
      if (contour.closed) {
        contour.points.emplace_back(contour.points.front().first, contour.points.back().second);
        contour.points.push_back(contour.points.front());
      }
      contours.push_back(contour);
    }
  return contours;
}

}  // namespace contorno::test
