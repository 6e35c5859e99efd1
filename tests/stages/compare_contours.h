// Whether contours in host memory are the same, bit for bit.
#pragma once

#include <cstring>

#include "pipeline/value/contours.h"

namespace contorno::test {

/// Of as many contours.
inline bool same_attributes(const ContoursView& a, const ContoursView& b) {
  if (a.format.attributes != b.format.attributes) return false;
  bool same = true;
  a.format.attributes.for_each([&](Attribute one) {
    same = same && (a.counts->contours == 0 ||
                    std::memcmp(a.column(one), b.column(one), a.counts->contours * sizeof(double)) == 0);
  });
  return same;
}

/// Compares what is used of the arrays; the capacities may differ.
inline bool same_contours(const ContoursView& a, const ContoursView& b) {
  const ContourCounts &left = *a.counts, &right = *b.counts;
  if (left.points != right.points || left.contours != right.contours || a.format.classes != b.format.classes)
    return false;
  if (!a.fits() || !b.fits()) return a.fits() == b.fits();
  const auto same = [](const auto* one, const auto* other, std::uint64_t count) {
    return count == 0 || std::memcmp(one, other, count * sizeof(*one)) == 0;
  };
  return same(a.class_begin, b.class_begin, static_cast<std::uint64_t>(a.format.classes) + 1) &&
         same(a.offsets, b.offsets, left.contours + 1) && same(a.closed, b.closed, left.contours) &&
         same(a.points, b.points, left.points) && same_attributes(a, b);
}

}  // namespace contorno::test
