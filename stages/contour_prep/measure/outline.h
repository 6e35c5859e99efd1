// What `measure` writes of one contour on the host: for its stage, and for files whose coordinates are not
// those that the contour was measured in.
#pragma once

#include <cstdint>
#include <span>

#include "pipeline/value/contours.h"

namespace contorno::measuring {

/// Writes all attributes of `measure` (kMeasuredAttributes, which `out` has) of a contour with these points
/// to the columns of contour `index`. `hull` is the area of its convex hull, px^2; 0 = it has none. The last
/// point of a closed contour repeats its first.
void write_outline(const ContoursView& out, std::uint32_t index, std::span<const Point> points, bool closed,
                   double hull);

}  // namespace contorno::measuring
