// Contours with ends on the border of a map, in any order along it: also such as no map has.
#pragma once

#include <vector>

#include "tests/stages/harness.h"

namespace contorno::test {

/// Of a map of `width` x `height` samples, on quarters of px. Class 1 is empty; some contours are closed,
/// have one point or none, or ends elsewhere, and many have ends in the same place.
inline std::vector<TestContour> border_contours(std::uint64_t seed, int classes, int each, int width,
                                                int height, int per_elsewhere) {
  Random random(seed);
  const auto along = [&](int last) { return last > 0 ? random.below(4 * last + 1) / 4.0 : 0.0; };
  const auto inside = [&] { return std::pair{along(width - 1), along(height - 1)}; };
  const auto on_border = [&] {
    std::pair<double, double> point = inside();
    const double far = random.below(2);
    (random.below(2) == 0 ? point.first : point.second) = -1;
    if (point.first < 0) point.first = far * (width - 1);
    if (point.second < 0) point.second = far * (height - 1);
    return point;
  };
  std::vector<TestContour> contours;
  for (int k = 0; k < classes; ++k)
    for (int i = 0; i < (k == 1 ? 0 : each); ++i) {
      TestContour contour{k, false, {}};
      const bool elsewhere = per_elsewhere > 0 && random.below(per_elsewhere) == 0;
      if (i % 11 != 4) contour.points.push_back(elsewhere ? inside() : on_border());
      if (i % 11 != 4 && i % 13 != 5) {
        for (int p = random.below(5); p > 0; --p) contour.points.push_back(inside());
        contour.points.push_back(on_border());
      }
      contour.closed = contour.points.size() > 1 && random.below(9) == 0;
      if (contour.closed) contour.points.push_back(contour.points.front());
      contours.push_back(contour);
    }
  return contours;
}

}  // namespace contorno::test
