// Whether contours in host memory are the same, bit for bit, and what differs first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ostream>
#include <vector>

#include "pipeline/value/contours.h"
#include "tests/comparison.h"

namespace contorno::test {

/// Of as many contours.
inline Comparison same_attributes(const ContoursView& a, const ContoursView& b) {
  if (a.format.attributes != b.format.attributes) return {"they have other attributes"};
  Comparison found;
  a.format.attributes.for_each([&](Attribute one) {
    if (found) found = compare_lists(name_of(one), a.column(one), b.column(one), a.counts->contours);
  });
  return found;
}

/// A copy in `memory` in which every attribute is -77, for what computes them anew.
inline ContoursView without_attributes(const ContoursView& given, std::vector<std::byte>& memory) {
  memory.resize(packed_bytes(given.format));
  std::memcpy(memory.data(), given.counts, memory.size());
  const ContoursView made = packed_view(memory.data(), given.format);
  given.format.attributes.for_each(
      [&](Attribute one) { std::fill_n(made.column(one), given.counts->contours, -77.0); });
  return made;
}

/// Compares what is used of the arrays; the capacities may differ.
inline Comparison same_contours(const ContoursView& a, const ContoursView& b) {
  const ContourCounts &left = *a.counts, &right = *b.counts;
  const auto print_point = [](std::ostream& text, const Point& point) {
    text << "(" << point.row << ", " << point.col << ")";
  };
  Comparison found = compare_values("classes", a.format.classes, b.format.classes);
  if (found) found = compare_values("contours", left.contours, right.contours);
  if (found) found = compare_values("points", left.points, right.points);
  if (found) found = compare_values("fits", a.fits(), b.fits());
  if (!found || !a.fits()) return found;
  found = compare_lists("class_begin", a.class_begin, b.class_begin,
                        static_cast<std::size_t>(a.format.classes) + 1);
  if (found) found = compare_lists("offsets", a.offsets, b.offsets, left.contours + 1);
  if (found) found = compare_lists("closed", a.closed, b.closed, left.contours);
  if (found) found = compare_lists("points (row, column)", a.points, b.points, left.points, print_point);
  return found ? same_attributes(a, b) : found;
}

}  // namespace contorno::test
