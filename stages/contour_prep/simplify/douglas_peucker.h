// Douglas-Peucker on the CPU, a contour at a time, without recursion and without allocating.
#pragma once

#include "stages/contour_prep/simplify/farthest_in_blocks.h"

namespace contorno {

/// A point that was kept, for the choice within a budget.
struct RankedPoint {
  std::uint64_t importance = 0;
  std::uint32_t at = 0;
};

/// Marks the points of a contour that stay, of which it has `own`; a closed one has its first point again at
/// points[own]. `keep` has `own` flags, `ranked` room for as many points, and may be null without a budget;
/// `boxes` has room for those of PointBlocks.
void mark_douglas_peucker(FarthestBetween farthest, const Point* points, std::uint32_t own, bool closed,
                          const SimplifyLimits& limits, std::uint8_t* keep, RankedPoint* ranked, Box* boxes);

}  // namespace contorno
