#include "stages/contour_prep/simplify/visvalingam.h"

#include <algorithm>

namespace contorno {
namespace {

/// The points that may be removed, the one with the smallest area first; of equal areas the first point.
class AreaHeap {
 public:
  AreaHeap(VisvalingamPoint* nodes, std::uint32_t* heap) : nodes_(nodes), heap_(heap) {}

  bool is_empty() const { return size_ == 0; }
  std::uint32_t top() const { return heap_[0]; }
  /// Appends without order; make() orders all.
  void append(std::uint32_t point) { put(size_++, point); }
  void make() {
    for (std::uint32_t i = size_ / 2; i-- > 0;) sink(i, heap_[i]);
  }
  void pop() {
    const std::uint32_t last = heap_[--size_];
    if (size_ > 0) sink(0, last);
  }
  /// Puts a point in order whose area has changed.
  void move(std::uint32_t point) {
    std::uint32_t place = nodes_[point].place;
    for (; place > 0 && is_less(point, heap_[(place - 1) / 2]); place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    sink(place, point);
  }

 private:
  bool is_less(std::uint32_t a, std::uint32_t b) const {
    const double left = nodes_[a].area, right = nodes_[b].area;
    return left < right || (left == right && a < b);
  }
  void put(std::uint32_t place, std::uint32_t point) { heap_[place] = point, nodes_[point].place = place; }
  void sink(std::uint32_t place, std::uint32_t point) {
    for (std::uint32_t child = 2 * place + 1; child < size_; child = 2 * place + 1) {
      if (child + 1 < size_ && is_less(heap_[child + 1], heap_[child])) ++child;
      if (!is_less(heap_[child], point)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, point);
  }

  VisvalingamPoint* nodes_;
  std::uint32_t* heap_;
  std::uint32_t size_ = 0;
};

}  // namespace

void mark_visvalingam(const Point* points, std::uint32_t own, bool closed, const SimplifyLimits& limits,
                      std::uint8_t* keep, VisvalingamPoint* nodes, std::uint32_t* heap) {
  std::fill_n(keep, own, std::uint8_t{1});
  if (own <= SimplifyLimits::fewest(closed)) return;
  const auto area_of = [&](std::uint32_t at) {
    return twice_area(points[nodes[at].before], points[at], points[nodes[at].after]);
  };
  const auto may_go = [&](std::uint32_t at) { return closed || (at > 0 && at < own - 1); };
  AreaHeap areas(nodes, heap);
  for (std::uint32_t i = 0; i < own; ++i) {
    nodes[i].before = i > 0 ? i - 1 : own - 1;
    nodes[i].after = i < own - 1 ? i + 1 : 0;
    if (!may_go(i)) continue;
    nodes[i].area = area_of(i);
    areas.append(i);
  }
  areas.make();
  const std::uint32_t budget = limits.budget(own, closed);
  for (std::uint32_t kept = own; kept > SimplifyLimits::fewest(closed) && !areas.is_empty(); --kept) {
    const std::uint32_t at = areas.top();
    if (kept <= budget && nodes[at].area > limits.area) return;
    areas.pop();
    keep[at] = 0;
    const auto [area, before, after, place] = nodes[at];
    nodes[before].after = after, nodes[after].before = before;
    for (const std::uint32_t neighbour : {before, after})
      if (may_go(neighbour)) nodes[neighbour].area = area_of(neighbour), areas.move(neighbour);
  }
}

}  // namespace contorno
