#include "plugins/files/contours/regions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

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
  list_levels(view, first, last);
  std::uint32_t level = 0;
  for (const std::uint32_t i : by_level_) {
    while (rings_.size() >= level_begin_[level + 1]) ++level;
    const std::size_t begin = points_.size();
    const std::span<const Point> placed = placer.points(view, i);
    points_.insert(points_.end(), placed.begin(), placed.end());
    const bool closed = view.closed[i] != 0;
    if (!closed && open_contours == OpenContours::Close && !placed.empty()) points_.push_back(placed.front());
    add({.points = {points_.data() + begin, points_.size() - begin},
         .measures = {},
         .contour = i,
         .place = static_cast<std::uint32_t>(rings_.size()),
         .level = level},
        closed, open_contours);
    offsets_.push_back(static_cast<std::uint32_t>(points_.size()));
  }
  std::stable_sort(outers_.begin(), outers_.end(),
                   [](const Ring& a, const Ring& b) { return a.measures.area < b.measures.area; });
  find_parents();
}

/// Lists the contours of a class level by level; those of one level stay in their order.
void RegionSorter::list_levels(const ContoursView& view, std::uint32_t first, std::uint32_t last) {
  by_level_.resize(last - first);
  std::iota(by_level_.begin(), by_level_.end(), first);
  level_begin_.assign(1, 0);
  if (const double* const levels = view.column(Attribute::Level)) {
    std::stable_sort(by_level_.begin(), by_level_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return levels[a] < levels[b]; });
    for (std::uint32_t place = 1; place < by_level_.size(); ++place)
      if (levels[by_level_[place - 1]] < levels[by_level_[place]]) level_begin_.push_back(place);
  }
  level_begin_.push_back(last - first);
}

void RegionSorter::add(const Ring& given, bool closed, OpenContours open_contours) {
  const bool is_ring = closed || open_contours == OpenContours::Close;
  Ring ring = given;
  const ContourMeasures& m = ring.measures = measure(ring.points, is_ring ? Closure::Closed : Closure::Open);
  rings_.push_back(0);
  if (!std::isfinite(m.length)) return;
  if (!is_ring || ring.points.size() < kFewestRingPoints || m.area == 0) {
    lines_.push_back({.points = ring.points, .closed = closed, .measures = m, .contour = ring.contour});
  } else {
    rings_.back() = 1;
    (m.area > 0 ? outers_ : holes_).push_back(ring);
  }
}

void RegionSorter::find_parents() {
  const std::size_t contours = rings_.size();
  boxes_.resize(contours), areas_.resize(contours), order_.resize(contours), nodes_.resize(contours);
  blocks_.resize(PointBlocks::boxes_for(points_.size()));
  ContourCounts counts{points_.size(), contours};
  const ContoursView rings{.format = {.classes = static_cast<int>(level_begin_.size() - 1),
                                      .point_capacity = counts.points,
                                      .contour_capacity = counts.contours},
                           .counts = &counts,
                           .points = points_.data(),
                           .offsets = offsets_.data(),
                           .closed = rings_.data(),
                           .class_begin = level_begin_.data()};
  const nesting::Nest nest(rings,
                           {boxes_.data(), areas_.data(), order_.data(), nodes_.data(), blocks_.data()}, 1);
  constexpr std::uint32_t kNone = 0xFFFFFFFF;
  places_.assign(contours, kNone);
  for (std::uint32_t index = 0; index < outers_.size(); ++index) places_[outers_[index].place] = index;
  for (Ring& hole : holes_) {
    const nesting::Around around = nest.around(hole.place, hole.level);
    if (around.is_too_many()) nesting::throw_too_many();
    const std::uint32_t parent = around.parent_or_none();
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
