// Whether a place is inside of a contour (inside.h), without looking at all of its segments: a block
// of segments whose box does not have the place is crossed as its ends say. For contours that many others lie
// in. On the CPU.
#pragma once

#include "geometry/inside.h"
#include "geometry/point_blocks.h"

namespace contorno::nesting {

/// Gives what is_inside(place, contour) gives; `blocks` are those of the contour's points.
bool is_inside(const Place& place, const Point* contour, const PointBlocks& blocks);

}  // namespace contorno::nesting
