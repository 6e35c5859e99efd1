// Maps with contours of all kinds in them, and a plain way to say which samples are inside of each: every
// sample is tried against every contour, along its column instead of its row.
#pragma once

#include <cmath>
#include <limits>

#include "stages/shared/sample_value.h"
#include "tests/stages/contour_prep/nested_contours.h"

namespace contorno::test {

/// Closed, around (x, y), never through a sample.
inline TestContour star(Random& random, int of_class, double x, double y, double radius) {
  TestContour contour{of_class, true, {}};
  const int points = 3 + random.below(30);
  for (int i = 0; i < points; ++i) {
    const double angle = 2 * std::numbers::pi * i / points, at = radius * (0.3 + 0.7 * random.unit());
    contour.points.emplace_back(static_cast<float>(x + at * std::cos(angle)),
                                static_cast<float>(y + at * std::sin(angle)));
  }
  contour.points.push_back(contour.points.front());
  if (random.below(2) == 0) std::reverse(contour.points.begin(), contour.points.end());
  return contour;
}

/// Contours of three classes on a map of 160 x 140, the second of which has none: nested 64 deep, stars that
/// cross each other and the border of the map, and contours that enclose no sample.
inline std::vector<TestContour> contours_on_map(std::uint64_t seed) {
  Random random(seed);
  std::vector<TestContour> contours;
  for (const int of_class : {0, 2}) {
    add_nested(contours, of_class, 80.25, 70.375, 64);
    for (int i = 0; i < 40; ++i)
      contours.push_back(
          star(random, of_class, 160 * random.unit(), 140 * random.unit(), 1 + 12 * random.unit()));
    contours.push_back(star(random, of_class, -40, 70, 20));
    contours.push_back({of_class, false, {{90, 90}, {110, 110}, {120, 90}}});
    contours.push_back({of_class, true, {{95.5, 95.5}}});
    contours.push_back({of_class, true, {}});
    contours.push_back({of_class, true, {{20.25, 20.25}, {20.75, 20.25}, {20.75, 20.75}, {20.25, 20.25}}});
    contours.push_back({of_class, true, {{5, 5}, {30, 5}, {std::nan(""), 9}, {30, 30}, {5, 5}}});
    contours.push_back({of_class, true, {{5, 5}, {30, 5}, {HUGE_VAL, 9}, {30, 30}, {5, 5}}});
  }
  return contours;
}

/// Whether an odd number of segments crosses the column above (x, y).
inline bool is_around(const TestContour& contour, double x, double y) {
  if (!contour.closed) return false;
  bool inside = false;
  for (std::size_t i = 1; i < contour.points.size(); ++i) {
    const auto& [ax, ay] = contour.points[i - 1];
    const auto& [bx, by] = contour.points[i];
    if ((ax <= x) != (bx <= x) && ay + (by - ay) * (x - ax) / (bx - ax) < y) inside = !inside;
  }
  return inside;
}
inline bool has_numbers(const TestContour& contour) {
  return std::all_of(contour.points.begin(), contour.points.end(), [](const auto& point) {
    return std::isfinite(point.first) && std::isfinite(point.second);
  });
}

/// What measure_map should say of a contour.
struct ReferenceMeasures {
  double samples = 0;
  long double sum = 0;
  double greatest = -std::numeric_limits<double>::infinity();

  void add(double sample) {
    if (std::isnan(sample)) return;
    samples += 1, sum += sample, greatest = std::max(greatest, sample);
  }
};

/// The index of the contour closest around each, -1 for none.
inline std::vector<int> reference_parents(const std::vector<TestContour>& contours) {
  std::vector<int> parents(contours.size(), -1);
  for (std::size_t i = 0; i < contours.size(); ++i)
    for (std::size_t other = 0; other < contours.size(); ++other) {
      if (other == i || !contours[other].closed || !lies_in(contours[i], contours[other])) continue;
      if (parents[i] < 0 ||
          enclosed(contours[other]) < enclosed(contours[static_cast<std::size_t>(parents[i])]))
        parents[i] = static_cast<int>(other);
    }
  return parents;
}

/// Whether each sample, row by row, is inside of each contour's region.
using Inside = std::vector<bool>;
inline std::vector<Inside> reference_regions(const std::vector<TestContour>& contours, int width,
                                             int height) {
  const auto flip = [&](Inside& mask, const TestContour& contour) {
    for (int y = 0; y < height; ++y)
      for (int x = 0; x < width; ++x)
        if (is_around(contour, x, y)) mask[static_cast<std::size_t>(y * width + x)].flip();
  };
  std::vector<Inside> regions(contours.size(), Inside(static_cast<std::size_t>(width * height), false));
  const std::vector<int> parents = reference_parents(contours);
  for (std::size_t i = 0; i < contours.size(); ++i) {
    if (!has_numbers(contours[i])) continue;
    flip(regions[i], contours[i]);
    if (parents[i] >= 0) flip(regions[static_cast<std::size_t>(parents[i])], contours[i]);
  }
  return regions;
}

inline std::vector<ReferenceMeasures> reference_measures(const std::vector<TestContour>& contours,
                                                         const std::vector<Inside>& regions,
                                                         const ImageView& map) {
  std::vector<ReferenceMeasures> measures(contours.size());
  for (std::size_t i = 0; i < contours.size(); ++i) {
    const Plane plane = plane_of(map, contours[i].class_index, probability_scale(map.format.type));
    for (std::size_t at = 0; at < regions[i].size(); ++at)
      if (regions[i][at])
        measures[i].add(plane.at(static_cast<int>(at) / plane.width, static_cast<int>(at) % plane.width));
  }
  return measures;
}

}  // namespace contorno::test
