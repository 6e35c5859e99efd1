#include "plugins/files/contours/regions.h"

#include <algorithm>
#include <cmath>

#include "stages/contour_prep/shared/inside.h"

namespace contorno {
namespace {

constexpr std::size_t kFewestRingPoints = 4;  // a triangle, with the first point repeated

bool encloses(const ContourMeasures& outer, const ContourMeasures& inner) {
  return outer.x <= inner.x && outer.y <= inner.y && outer.x + outer.width >= inner.x + inner.width &&
         outer.y + outer.height >= inner.y + inner.height;
}

}  // namespace

void RegionSorter::sort(const ContoursView& view, std::size_t of_class, ContourPlacer& placer,
                        OpenContours open_contours) {
  outers_.clear();
  holes_.clear();
  lines_.clear();
  points_.clear();
  const std::uint32_t first = view.class_begin[of_class], last = view.class_begin[of_class + 1];
  // One more point a contour, for closing it; with all the room taken at once the spans stay where they are.
  points_.reserve(view.offsets[last] - view.offsets[first] + (last - first));
  for (std::uint32_t i = first; i < last; ++i) {
    const std::size_t begin = points_.size();
    const std::span<const Point> placed = placer.points(view, i);
    points_.insert(points_.end(), placed.begin(), placed.end());
    const bool closed = view.closed[i] != 0;
    if (!closed && open_contours == OpenContours::Close && !placed.empty()) points_.push_back(placed.front());
    add({points_.data() + begin, points_.size() - begin}, i, closed, open_contours);
  }
  std::stable_sort(outers_.begin(), outers_.end(),
                   [](const Ring& a, const Ring& b) { return a.measures.area < b.measures.area; });
  find_parents();
}

void RegionSorter::add(std::span<const Point> points, std::uint32_t contour, bool closed,
                       OpenContours open_contours) {
  const bool ring = closed || open_contours == OpenContours::Close;
  const ContourMeasures m = measure(points, ring ? Closure::Closed : Closure::Open);
  if (!std::isfinite(m.length)) return;
  if (!ring || points.size() < kFewestRingPoints || m.area == 0) {
    lines_.push_back({.points = points, .closed = closed, .measures = m, .contour = contour});
  } else if (m.area > 0) {
    outers_.push_back({.points = points, .measures = m, .contour = contour});
  } else {
    holes_.push_back({.points = points, .measures = m, .contour = contour});
  }
}

void RegionSorter::find_parents() {
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  for (Ring& hole : holes_) {
    hole.parent = kNone;
    // Rings of one level never cross, but may touch at a sample; the middle of a segment touches nothing.
    const double x = (static_cast<double>(hole.points[0].col) + hole.points[1].col) / 2;
    const double y = (static_cast<double>(hole.points[0].row) + hole.points[1].row) / 2;
    const auto larger = std::partition_point(outers_.begin(), outers_.end(), [&](const Ring& outer) {
      return outer.measures.area <= -hole.measures.area;
    });
    const auto parent = std::find_if(larger, outers_.end(), [&](const Ring& outer) {
      return encloses(outer.measures, hole.measures) && is_inside({.row = y, .col = x}, outer.points);
    });
    if (parent != outers_.end()) hole.parent = static_cast<std::uint32_t>(parent - outers_.begin());
  }
  std::stable_sort(holes_.begin(), holes_.end(),
                   [](const Ring& a, const Ring& b) { return a.parent < b.parent; });
  for (; !holes_.empty() && holes_.back().parent == kNone; holes_.pop_back())
    lines_.push_back({.points = holes_.back().points,
                      .closed = true,
                      .measures = holes_.back().measures,
                      .contour = holes_.back().contour});
}

std::span<const RegionSorter::Ring> RegionSorter::holes_of(std::size_t index) const {
  const auto [begin, end] = std::equal_range(
      holes_.begin(), holes_.end(),
      Ring{.points = {}, .measures = {}, .contour = 0, .parent = static_cast<std::uint32_t>(index)},
      [](const Ring& a, const Ring& b) { return a.parent < b.parent; });
  return {begin, end};
}

}  // namespace contorno
