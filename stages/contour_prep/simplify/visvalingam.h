// Visvalingam-Whyatt on the CPU, a contour at a time, without allocating.
#pragma once

#include "stages/contour_prep/simplify/rules.h"

namespace contorno {

/// A point while others are removed.
struct VisvalingamPoint {
  double area = 0;                      ///< twice that of the triangle with its neighbours
  std::uint32_t before = 0, after = 0;  ///< its neighbours
  std::uint32_t place = 0;              ///< in the heap
};

/// Marks the points of a contour that stay, of which it has `own`. `keep` has `own` flags; `nodes` and `heap`
/// have room for `own` each.
void mark_visvalingam(const Point* points, std::uint32_t own, bool closed, const SimplifyLimits& limits,
                      std::uint8_t* keep, VisvalingamPoint* nodes, std::uint32_t* heap);

}  // namespace contorno
