// Attributes in output coordinates, those in which points are written. Stages measure in px of the map; where
// the map has other pixels than the frame, areas and lengths have to follow the points. Who adds an Attribute
// decides in placed_attributes.cpp whether it is scaled, measured anew or kept.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "pipeline/value/contours.h"

namespace contorno {

/// A value for each Attribute, by its number; NaN for attributes that the view does not have.
using AttributeValues = std::array<double, kAttributeCount>;

/// The attributes of contour `index` of `view` in the coordinates of `placed`, its points placed by
/// `placement`. Where x and y scale equally, areas, lengths and places are scaled, so that they stay those of
/// the moment of measuring. Otherwise attributes of the stage `measure` are measured anew of the `placed`
/// points, but the convexity (area / area of the convex hull), which no scaling changes. Numbers, ids,
/// levels, what is measured of the map's samples, and Fourier descriptors stay as they are: the latter are
/// always those of the map.
AttributeValues placed_attributes(const ContoursView& view, std::uint32_t index, const Placement& placement,
                                  std::span<const Point> placed);

}  // namespace contorno
