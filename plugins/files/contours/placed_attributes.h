// Attributes in the coordinates that a file or another program gets the points in. Stages measure in px of
// the map; where the map has other pixels than the frame, areas and lengths have to follow the points.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "pipeline/value/contours.h"

namespace contorno {

/// A value for each Attribute, by its number; of those that a view lacks NaN.
using AttributeValues = std::array<double, kAttributeCount>;

/// The attributes of contour `index` of `view`, whose points are `placed` by `placement`. Where a sample of
/// the map is a square there, areas, lengths and places are scaled; where it is none, what `measure` gives is
/// measured anew of the `placed` points (but the convexity, which does not change). Descriptors and numbers
/// stay as they are.
AttributeValues placed_attributes(const ContoursView& view, std::uint32_t index, const Placement& placement,
                                  std::span<const Point> placed);

}  // namespace contorno
