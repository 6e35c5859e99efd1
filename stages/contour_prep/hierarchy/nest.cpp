#include "stages/contour_prep/hierarchy/nest.h"

#include <algorithm>
#include <bit>

#include "stages/contour_prep/shared/contour_size.h"

namespace contorno::nesting {

Nest::Nest(const ContoursView& contours, const NestMemory& memory, int threads)
    : contours_(contours), memory_(memory) {
  for_contours(threads, contours.counts->contours, [&](std::uint32_t contour) {
    memory.areas[contour] = size_in_units(ContourSize::Area, contours, contour);
    memory.boxes[contour] = {};
    for (const Point& point : contours.contour(contour)) memory.boxes[contour].add(point);
  });
  Listed* end = memory.listed;
  for (int k = 0; k < contours.format.classes; ++k)
    for (std::uint32_t i = contours.class_begin[k]; i < contours.class_begin[k + 1]; ++i)
      if (memory.areas[i] > 0) *end++ = {row_lists::list_of(static_cast<unsigned>(k), memory.boxes[i]), i};
  std::sort(memory.listed, end);
  listed_ = {memory.listed, end};
  for (const Listed& one : listed_) levels_ |= 1U << row_lists::level_of(one.list);
}

Around Nest::around(std::uint32_t contour, unsigned of_class) const {
  Around found;
  const std::span<const Point> points = contours_.contour(contour);
  if (points.empty()) return found;
  const Place place = place_of(points.data(), static_cast<std::uint32_t>(points.size()));
  for (unsigned levels = levels_; levels != 0; levels &= levels - 1) {
    const row_lists::Lists lists(of_class, std::countr_zero(levels), place.row, place.row);
    auto one = std::lower_bound(listed_.begin(), listed_.end(), Listed{lists.first});
    for (; one != listed_.end() && one->list <= lists.last; ++one)
      if (memory_.boxes[one->contour].has(place) && memory_.areas[one->contour] > memory_.areas[contour] &&
          is_inside(place, contours_.contour(one->contour)))
        found.add(one->contour, memory_.areas[one->contour]);
  }
  return found;
}

}  // namespace contorno::nesting
