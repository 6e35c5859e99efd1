// How far two lines are apart.
#pragma once

#include <cstdint>
#include <span>

#include "pipeline/value/contours.h"

namespace contorno {

/// The Hausdorff distance of two lines: how far a point of one is from the other line, at most, both ways.
/// A line goes from point to point. Infinite where one has no points or a point with a coordinate that is no
/// number or infinite; else at most a millionth above what it is. `compared`, where it is not null, grows by
/// how many boxes and segments points were compared with: some log n for each of n points, however the lines
/// run.
double distance_between(std::span<const Point> one, std::span<const Point> other,
                        std::uint64_t* compared = nullptr);

}  // namespace contorno
