#include "plugins/files/contours/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "stages/contour_prep/measure/rules.h"

namespace contorno {
namespace {

void measure_box(std::span<const Point> points, ContourMeasures& m) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  double left = kNaN, right = kNaN, top = kNaN, bottom = kNaN;
  for (const Point& p : points) {  // fmin and fmax pass over NaN
    left = std::fmin(left, p.col);
    right = std::fmax(right, p.col);
    top = std::fmin(top, p.row);
    bottom = std::fmax(bottom, p.row);
  }
  m.x = left;
  m.y = top;
  m.width = right - left;
  m.height = bottom - top;
}

}  // namespace

ContourMeasures measure(std::span<const Point> points, Closure closure) {
  ContourMeasures m;
  measure_box(points, m);
  if (points.empty()) return m;
  const Point& first = points[0];
  measuring::FirstMoments area, line;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const measuring::Offset a(points[i - 1], first), b(points[i], first);
    area.add(measuring::twice_area_of(a, b), a, b);
    line.add(measuring::length_of(a, b), a, b);
  }
  m.length = line.weight;
  if (closure == Closure::Closed) m.area = area.weight / 2;
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
