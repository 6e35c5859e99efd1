#include "pipeline/value/copy_contours.h"

#include <algorithm>

namespace contorno {

void copy_tables(const ContoursView& from, const ContoursView& to) {
  *to.counts = *from.counts;
  std::copy_n(from.class_begin, from.format.classes + 1, to.class_begin);
  std::copy_n(from.offsets, from.counts->contours + 1, to.offsets);
  std::copy_n(from.closed, from.counts->contours, to.closed);
  from.format.attributes.for_each([&](Attribute attribute) {
    std::copy_n(from.column(attribute), from.counts->contours, to.column(attribute));
  });
}

void copy_contours(const ContoursView& from, const ContoursView& to) {
  copy_tables(from, to);
  std::copy_n(from.points, from.counts->points, to.points);
}

}  // namespace contorno
