#include "stages/contour_prep/simplify/methods.h"

#include <algorithm>

namespace contorno {
namespace {

/// The points that may be removed, the one that goes first at the top.
class AreaHeap {
 public:
  AreaHeap(VisvalingamPoint* nodes, VisvalingamArea* heap) : nodes_(nodes), heap_(heap) {}

  bool is_empty() const { return size_ == 0; }
  const VisvalingamArea& top() const { return heap_[0]; }
  /// Appends without order; make() orders all.
  void append(const VisvalingamArea& point) { put(size_++, point); }
  void make() {
    for (std::uint32_t i = size_ / 2; i-- > 0;) sink(i, heap_[i]);
  }
  void pop() {
    const VisvalingamArea last = heap_[--size_];
    if (size_ > 0) sink(0, last);
  }
  /// Puts a point in order whose area has changed.
  void move(const VisvalingamArea& point) {
    std::uint32_t place = nodes_[point.at].place;
    for (; place > 0 && point < heap_[(place - 1) / 2]; place = (place - 1) / 2)
      put(place, heap_[(place - 1) / 2]);
    sink(place, point);
  }

 private:
  void put(std::uint32_t place, const VisvalingamArea& point) {
    heap_[place] = point, nodes_[point.at].place = place;
  }
  void sink(std::uint32_t place, VisvalingamArea point) {
    for (std::uint32_t child = 2 * place + 1; child < size_; child = 2 * place + 1) {
      child += child + 1 < size_ && heap_[child + 1] < heap_[child] ? 1 : 0;
      if (!(heap_[child] < point)) break;
      put(place, heap_[child]);
      place = child;
    }
    put(place, point);
  }

  VisvalingamPoint* nodes_;
  VisvalingamArea* heap_;
  std::uint32_t size_ = 0;
};

}  // namespace

void mark(const OneThread&, const Visvalingam& step, const OwnPoints& one, std::uint8_t* keep) {
  const SimplifyLimits& limits = step.limits;
  const Point* const points = one.points;
  const std::uint32_t own = one.count;
  const bool closed = one.closed;
  VisvalingamPoint* const nodes = step.nodes + one.begin;
  std::fill_n(keep, own, std::uint8_t{1});
  if (own <= SimplifyLimits::fewest(closed)) return;
  const auto area_of = [&](std::uint32_t at) {
    return VisvalingamArea{area_bits(points[nodes[at].before], points[at], points[nodes[at].after]), at};
  };
  AreaHeap areas(nodes, step.heap + one.begin);
  for (std::uint32_t i = 0; i < own; ++i) {
    nodes[i].before = ring_before(i, own), nodes[i].after = ring_after(i, own);
    if (may_go(i, own, closed)) areas.append(area_of(i));
  }
  areas.make();
  const std::uint32_t budget = limits.budget(own, closed);
  const std::uint64_t limit = bits_of(limits.area);
  for (std::uint32_t kept = own; kept > SimplifyLimits::fewest(closed) && !areas.is_empty(); --kept) {
    const auto [area, at] = areas.top();
    if (kept <= budget && area > limit) return;
    areas.pop();
    keep[at] = 0;
    const auto [before, after, place] = nodes[at];
    nodes[before].after = after, nodes[after].before = before;
    for (const std::uint32_t neighbour : {before, after})
      if (may_go(neighbour, own, closed)) areas.move(area_of(neighbour));
  }
}

}  // namespace contorno
