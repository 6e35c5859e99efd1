#include "geometry/nest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "geometry/contour_size.h"
#include "geometry/inside_blocks.h"

namespace contorno::nesting {
namespace {

constexpr std::uint32_t kLeaf = 8;  // contours of a node without others below it, at most

}  // namespace

void throw_too_many() {
  throw Error(
      ExitCode::BadData,
      fmt::format(
          "contours cannot be nested: one lies within the bounding boxes of too many larger "
          "contours of its class, allowed up to {}; leave some out by the steps drop_small or largest_first "
          "before",
          kMostTried));
}

Nest::Nest(const ContoursView& contours, const NestMemory& memory, int threads, const NestRule& rule)
    : contours_(contours), memory_(memory), rule_(rule) {
  for_contours(threads, contours.counts->contours, [&](std::uint32_t contour) { measure(contour); });
  for (int k = 0; k < contours.format.classes; ++k) {
    if (rule.class_around(static_cast<unsigned>(k)) != static_cast<unsigned>(k)) continue;
    const std::uint32_t first = contours.class_begin[k];
    std::uint32_t end = first;
    for (std::uint32_t i = first; i < contours.class_begin[k + 1]; ++i)
      if (memory.areas[i] > 0 && rule.counts(i)) memory.order[end++] = i;
    if (first < contours.class_begin[k + 1]) split(first, first, end);
  }
}

void Nest::measure(std::uint32_t contour) const {
  memory_.areas[contour] = size_in_units(OneThread{}, ContourSize::Area, contours_, contour);
  memory_.boxes[contour] = box_of(OneThread{}, contours_, contour);
  const std::span<const Point> points = contours_.contour(contour);
  if (memory_.areas[contour] > 0 && points.size() >= PointBlocks::kFewestPoints)
    PointBlocks(points.data(), static_cast<std::uint32_t>(points.size()),
                memory_.blocks + PointBlocks::first_box(contours_.offsets[contour]))
        .build();
}

std::uint32_t Nest::split(std::uint32_t number, std::uint32_t begin, std::uint32_t end) const {
  NestNode node;
  for (std::uint32_t i = begin; i < end; ++i) {
    node.box.add(memory_.boxes[memory_.order[i]]);
    node.area = std::max(node.area, memory_.areas[memory_.order[i]]);
  }
  node.next = number + 1;
  if (end - begin <= kLeaf) {
    node.begin = begin, node.end = end;
  } else {
    const Box& box = node.box;
    const bool by_row = static_cast<double>(box.bottom) - static_cast<double>(box.top) >
                        static_cast<double>(box.right) - static_cast<double>(box.left);
    const auto middle_of = [&](std::uint32_t contour) {
      const Box& one = memory_.boxes[contour];
      const double twice = by_row ? static_cast<double>(one.top) + static_cast<double>(one.bottom)
                                  : static_cast<double>(one.left) + static_cast<double>(one.right);
      return twice == twice ? twice : 0;  // from infinity to infinity
    };
    std::uint32_t* const order = memory_.order;
    const std::uint32_t middle = begin + (end - begin) / 2;
    std::nth_element(order + begin, order + middle, order + end, [&](std::uint32_t a, std::uint32_t b) {
      const double one = middle_of(a), other = middle_of(b);
      return one != other ? one < other : a < b;
    });
    node.next = split(split(number + 1, begin, middle), middle, end);
  }
  memory_.nodes[number] = node;
  return node.next;
}

bool Nest::is_inside(const Place& place, std::uint32_t contour) const {
  const std::span<const Point> points = contours_.contour(contour);
  if (points.size() < PointBlocks::kFewestPoints) return contorno::is_inside(place, points);
  return nesting::is_inside(place, points.data(),
                            PointBlocks(points.data(), static_cast<std::uint32_t>(points.size()),
                                        memory_.blocks + PointBlocks::first_box(contours_.offsets[contour])));
}

template <class MayHave, class Have>
void Nest::add_larger(std::uint32_t contour, unsigned of_class, const MayHave& may_have, const Have& have,
                      Around& found) const {
  const std::uint64_t area = memory_.areas[contour];
  const std::uint32_t first = contours_.class_begin[of_class];
  if (first == contours_.class_begin[of_class + 1]) return;
  for (std::uint32_t number = first, last = memory_.nodes[first].next; number < last;) {
    const NestNode& node = memory_.nodes[number];
    if (node.area <= area || !may_have(node.box)) {
      number = node.next;
      continue;
    }
    for (std::uint32_t i = node.begin; i < node.end; ++i) {
      const std::uint32_t one = memory_.order[i];
      if (memory_.areas[one] <= area || !may_have(memory_.boxes[one])) continue;
      if (++found.tried > kMostTried) return;
      if (have(one)) found.add(one, memory_.areas[one]);
    }
    ++number;
  }
}

Around Nest::around(std::uint32_t contour, unsigned of_class) const {
  Around found;
  const std::span<const Point> points = contours_.contour(contour);
  if (points.empty()) return found;
  const unsigned looked_at = rule_.class_around(of_class);
  const Place place = place_of(points.data(), static_cast<std::uint32_t>(points.size()));
  add_larger(
      contour, looked_at, [&](const Box& box) { return box.has(place); },
      [&](std::uint32_t one) { return is_inside(place, one); }, found);
  if (found.depth > 0 || !(rule_.reach >= 0)) return found;
  const Place middle = middle_of(memory_.boxes[contour]);
  add_larger(
      contour, looked_at, [&](const Box& box) { return rule_.is_beside(box, middle); },
      [](std::uint32_t) { return true; }, found);
  return found;
}

}  // namespace contorno::nesting
