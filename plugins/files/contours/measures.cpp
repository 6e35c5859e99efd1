#include "plugins/files/contours/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stages/contour_prep/measure/rules.h"

namespace contorno {
namespace {

/// The least and the largest of some numbers; NaN is passed over. (fmin and fmax do so, too, but are called
/// for each number.)
struct Range {
  float least = std::numeric_limits<float>::infinity(), most = -std::numeric_limits<float>::infinity();

  void add(float value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  bool has_none() const { return least > most; }
};

}  // namespace

BoxAndArea measure_box_and_area(std::span<const Point> points, Closure closure) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  BoxAndArea m{.x = kNaN, .y = kNaN, .width = kNaN, .height = kNaN};
  if (points.empty()) return m;
  Range cols, rows;
  cols.add(points[0].col), rows.add(points[0].row);
  double twice_area = 0;
  measuring::Offset last(points[0], points[0]);
  for (const Point& point : points.subspan(1)) {
    cols.add(point.col), rows.add(point.row);
    const measuring::Offset next(point, points[0]);
    twice_area += measuring::twice_area_of(last, next);
    last = next;
  }
  if (closure == Closure::Closed) m.area = twice_area / 2;
  if (!cols.has_none()) m.x = cols.least, m.width = static_cast<double>(cols.most) - cols.least;
  if (!rows.has_none()) m.y = rows.least, m.height = static_cast<double>(rows.most) - rows.least;
  return m;
}

ContourMeasures measure(std::span<const Point> points, Closure closure) {
  const BoxAndArea some = measure_box_and_area(points, closure);
  ContourMeasures m{.area = some.area, .x = some.x, .y = some.y, .width = some.width, .height = some.height};
  if (points.empty()) return m;
  const Point& first = points[0];
  measuring::FirstMoments area, line;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const measuring::Offset a(points[i - 1], first), b(points[i], first);
    area.add(measuring::twice_area_of(a, b), a, b);
    line.add(measuring::length_of(a, b), a, b);
  }
  m.length = line.weight;
  m.centroid_x = first.col, m.centroid_y = first.row;
  if (closure == Closure::Closed && area.weight != 0) {
    m.centroid_x += area.centre_col(measuring::kOfTriangles);
    m.centroid_y += area.centre_row(measuring::kOfTriangles);
  } else if (line.weight != 0) {
    m.centroid_x += line.centre_col(measuring::kOfSegments);
    m.centroid_y += line.centre_row(measuring::kOfSegments);
  }
  return m;
}

}  // namespace contorno
