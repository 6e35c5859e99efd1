#include "pipeline/value/object_views.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace contorno {
namespace {

/// What the outline encloses, in px^2.
double enclosed(std::span<const Point> points) {
  double twice = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    const double rows = static_cast<double>(points[i - 1].row) - points[0].row;
    const double cols = static_cast<double>(points[i - 1].col) - points[0].col;
    const double next_rows = static_cast<double>(points[i].row) - points[0].row;
    const double next_cols = static_cast<double>(points[i].col) - points[0].col;
    twice += cols * next_rows - next_cols * rows;
  }
  return std::abs(twice) / 2;
}

}  // namespace

ObjectView object_view(const ContoursView& contours, std::uint32_t contour, const ObjectsRule& rule) {
  const std::span<const Point> points = contours.contour(contour);
  ObjectView view{.id = static_cast<std::uint64_t>(contours.column(Attribute::Id)[contour])};
  if (points.empty()) return view;
  view.left = view.right = points[0].col, view.top = view.bottom = points[0].row;
  for (const Point& point : points) {
    view.left = std::min<double>(view.left, point.col), view.right = std::max<double>(view.right, point.col);
    view.top = std::min<double>(view.top, point.row), view.bottom = std::max<double>(view.bottom, point.row);
  }
  view.area = contours.closed[contour] != 0 ? enclosed(points) : 0;
  const double margin = rule.margin;
  view.whole = view.area > 0 && view.top >= margin && view.left >= margin &&
               view.bottom <= contours.format.height - 1 - margin &&
               view.right <= contours.format.width - 1 - margin;
  return view;
}

}  // namespace contorno
