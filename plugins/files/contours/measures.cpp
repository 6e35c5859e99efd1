#include "plugins/files/contours/measures.h"

#include <algorithm>
#include <cmath>
#include <limits>

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
  // Relative to the first point: far from the origin the products would lose what the area is made of.
  const double x0 = points[0].col, y0 = points[0].row;
  double twice_area = 0, moment_x = 0, moment_y = 0;  // of triangles with the first point
  double line_x = 0, line_y = 0;                      // of segments, weighted with their length
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double ax = points[i - 1].col - x0, ay = points[i - 1].row - y0;
    const double bx = points[i].col - x0, by = points[i].row - y0;
    const double cross = ax * by - bx * ay;
    twice_area += cross;
    moment_x += cross * (ax + bx);
    moment_y += cross * (ay + by);
    const double step = std::sqrt((bx - ax) * (bx - ax) + (by - ay) * (by - ay));
    m.length += step;
    line_x += step * (ax + bx);
    line_y += step * (ay + by);
  }
  if (closure == Closure::Closed) m.area = twice_area / 2;
  if (closure == Closure::Closed && twice_area != 0) {
    m.centroid_x = x0 + moment_x / (3 * twice_area);
    m.centroid_y = y0 + moment_y / (3 * twice_area);
  } else if (m.length != 0) {
    m.centroid_x = x0 + line_x / (2 * m.length);
    m.centroid_y = y0 + line_y / (2 * m.length);
  } else {
    m.centroid_x = x0;
    m.centroid_y = y0;
  }
  return m;
}

bool is_inside(std::span<const Point> polygon, double x, double y) {
  bool inside = false;
  for (std::size_t i = 1; i < polygon.size(); ++i) {
    const double ay = polygon[i - 1].row, by = polygon[i].row;
    if ((ay > y) == (by > y)) continue;
    const double ax = polygon[i - 1].col, bx = polygon[i].col;
    if (x < ax + (bx - ax) * ((y - ay) / (by - ay))) inside = !inside;
  }
  return inside;
}

}  // namespace contorno
