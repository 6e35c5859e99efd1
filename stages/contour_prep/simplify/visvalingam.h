// Visvalingam-Whyatt on the CPU, a contour at a time, without allocating.
#pragma once

#include "stages/contour_prep/simplify/rules.h"

namespace contorno {

/// A point while others are removed: its neighbours, and where the heap has it.
struct VisvalingamPoint {
  std::uint32_t before = 0, after = 0, place = 0;
};

/// A point that may be removed. The one with the smallest area goes first; of equal areas the first point.
struct VisvalingamArea {
  std::uint64_t area = 0;  ///< the bits of twice that of the triangle with its neighbours
  std::uint32_t at = 0;

  /// Without branches, which could not be predicted.
  bool operator<(const VisvalingamArea& other) const {
    return ((area < other.area) | ((area == other.area) & (at < other.at))) != 0;
  }
};

/// Marks the points of a contour that stay, of which it has `own`. `keep` has `own` flags; `nodes` and `heap`
/// have room for `own` each.
void mark_visvalingam(const Point* points, std::uint32_t own, bool closed, const SimplifyLimits& limits,
                      std::uint8_t* keep, VisvalingamPoint* nodes, VisvalingamArea* heap);

}  // namespace contorno
