// Contours for a pen: short ones, open and closed, on quarters of px.
#pragma once

#include <limits>
#include <vector>

#include "tests/stages/harness.h"

namespace contorno::test {

/// Within `span` px; the smaller, the more ways are equally long. The last class is the largest.
inline std::vector<TestContour> drawn_contours(std::uint64_t seed, int classes, int each, int span) {
  Random random(seed);
  std::vector<TestContour> contours;
  for (int k = 0; k < classes; ++k)
    for (int i = 0; i < (k + 1) * each / classes; ++i) {
      TestContour contour{k, false, {{random.below(4 * span) / 4.0, random.below(4 * span) / 4.0}}};
      for (int p = random.below(i % 4 == 0 ? 40 : 5); p > 0; --p)
        contour.points.emplace_back(contour.points.back().first + (random.below(9) - 4) / 4.0,
                                    contour.points.back().second + (random.below(9) - 4) / 4.0);
      contour.closed = contour.points.size() > 2 && random.below(2) == 0;
      if (contour.closed) contour.points.push_back(contour.points.front());
      contours.push_back(contour);
    }
  return contours;
}

/// Points in whole places of a square of `side` px: many ways are equally long, and many gains of 2opt.
inline std::vector<TestContour> drawn_points(std::uint64_t seed, int count, int side) {
  Random random(seed);
  std::vector<TestContour> contours;
  for (int i = 0; i < count; ++i) contours.push_back({0, false, {{random.below(side), random.below(side)}}});
  return contours;
}

/// Contours with ends that are no numbers or infinite, and contours without points.
inline std::vector<TestContour> without_numbers(std::vector<TestContour> contours) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < contours.size(); ++i) {
    TestContour& one = contours[i];
    if (one.closed) continue;
    if (i % 7 == 3) one.points.front().first = nan;
    if (i % 9 == 4) one.points.back() = {far, far};
    if (i % 13 == 6) one.points.clear();
  }
  return contours;
}

}  // namespace contorno::test
