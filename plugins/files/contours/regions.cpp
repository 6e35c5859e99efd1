#include "plugins/files/contours/regions.h"

#include <algorithm>
#include <cmath>

namespace contorno {
namespace {

constexpr std::size_t kFewestRingPoints = 4;  // a triangle, with the first point repeated

}  // namespace

void RegionSorter::sort(const ContoursView& view, std::size_t of_class, ContourPlacer& placer,
                        OpenContours open_contours) {
  outers_.clear();
  holes_.clear();
  lines_.clear();
  points_.clear();
  offsets_.assign(1, 0);
  rings_.clear();
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
    offsets_.push_back(static_cast<std::uint32_t>(points_.size()));
  }
  std::stable_sort(outers_.begin(), outers_.end(),
                   [](const Ring& a, const Ring& b) { return a.measures.area < b.measures.area; });
  find_parents(first);
}

void RegionSorter::add(std::span<const Point> points, std::uint32_t contour, bool closed,
                       OpenContours open_contours) {
  const bool ring = closed || open_contours == OpenContours::Close;
  const ContourMeasures m = measure(points, ring ? Closure::Closed : Closure::Open);
  rings_.push_back(0);
  if (!std::isfinite(m.length)) return;
  if (!ring || points.size() < kFewestRingPoints || m.area == 0) {
    lines_.push_back({.points = points, .closed = closed, .measures = m, .contour = contour});
  } else {
    rings_.back() = 1;
    (m.area > 0 ? outers_ : holes_).push_back({.points = points, .measures = m, .contour = contour});
  }
}

void RegionSorter::find_parents(std::uint32_t first) {
  const std::size_t contours = rings_.size();
  boxes_.resize(contours), areas_.resize(contours), listed_.resize(contours);
  ContourCounts counts{points_.size(), contours};
  std::uint32_t class_begin[] = {0, static_cast<std::uint32_t>(contours)};
  const ContoursView rings{
      .format = {.classes = 1, .point_capacity = counts.points, .contour_capacity = counts.contours},
      .counts = &counts,
      .points = points_.data(),
      .offsets = offsets_.data(),
      .closed = rings_.data(),
      .class_begin = class_begin};
  const nesting::Nest nest(rings, {boxes_.data(), areas_.data(), listed_.data()}, 1);
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  places_.assign(contours, kNone);
  for (std::uint32_t place = 0; place < outers_.size(); ++place)
    places_[outers_[place].contour - first] = place;
  for (Ring& hole : holes_) {
    const std::uint32_t parent = nest.around(hole.contour - first, 0).parent_or_none();
    hole.parent = parent != nesting::kNoParent ? places_[parent] : kNone;
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
