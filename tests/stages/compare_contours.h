// Whether contours in host memory are the same, bit for bit.
#pragma once

#include <cstring>

#include "pipeline/value/contours.h"

namespace contorno::test {

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
         same(a.points, b.points, left.points);
}

}  // namespace contorno::test
