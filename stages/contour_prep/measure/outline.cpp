#include "stages/contour_prep/measure/outline.h"

#include "stages/contour_prep/measure/rules.h"

namespace contorno::measuring {
namespace {

OutlineSums outline_of(std::span<const Point> points) {
  OutlineSums lanes[kLanes];
  for (std::size_t i = 1; i < points.size(); ++i)
    lanes[(i - 1) % kLanes].add(Offset(points[i - 1], points[0]), Offset(points[i], points[0]));
  return sum_of_lanes(lanes);
}

Moments line_of(std::span<const Point> points) {
  Moments lanes[kLanes];
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Offset a(points[i - 1], points[0]), b(points[i], points[0]);
    lanes[(i - 1) % kLanes].add(length_of(a, b), a, b);
  }
  return sum_of_lanes(lanes);
}

}  // namespace

void write_outline(const ContoursView& out, std::uint32_t index, std::span<const Point> points, bool closed,
                   double hull) {
  const OutlineSums outline = outline_of(points);
  write_form(out, index, closed ? outline.area.first.weight / 2 : 0, outline.length, hull);
  const Point first = points.empty() ? Point{std::nanf(""), std::nanf("")} : points[0];
  if (closed && outline.area.first.weight != 0)
    write_ellipse(out, index, first, ellipse_of(outline.area, kOfTriangles));
  else if (outline.length != 0)
    write_ellipse(out, index, first, ellipse_of(line_of(points), kOfSegments));
  else
    write_ellipse(out, index, first, Ellipse{});
  Box box;
  for (const Point& point : points) box.add(point);
  write_box(out, index, box);
}

}  // namespace contorno::measuring
