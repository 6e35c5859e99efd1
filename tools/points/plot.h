// A picture of points and their clusters.
#pragma once

#include <string>

#include "stages/mean_shift/points.h"
#include "tools/points/read_points.h"

namespace contorno {

/// An SVG with two fields of one scale: the points where they are, and where they came to rest, each in the
/// colour of its cluster (grey: in none), with a cross at the mode of each cluster. Points with more than two
/// coordinates are drawn by their first two; for points with one coordinate the other axis is the number of
/// the point. Where there are more than kMostDrawn points, every n-th is drawn, and the picture says so.
std::string points_svg(const Points& points, const MeanShiftResult& result);

inline constexpr std::size_t kMostDrawn = 20'000;

}  // namespace contorno
