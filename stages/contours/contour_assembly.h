// Contour assembly: from crossed cells to contours with sub-pixel points, those of scikit-image's
// find_contours in the same order.
//
// Input: crossings from marching_squares.
//
// Output: contours of all classes, points rounded from float64 to float32. A contour is open where the map
// ends and where samples are NaN. Where a class has several levels, the contours of each are those that it
// would have alone, level after level, and say their level (Attribute::Level).
//
// Memory: a quarter of a byte a sample, 16 bytes a contour, and the planned capacities; with several levels
// up to 64 MiB in place of the quarter, or what one level needs. A frame that has more points is counted,
// never truncated: overflow() says what it needs.
//
// Both backends give the same bits, because points are interpolated in float64 from the same two samples in
// the same order, and because order and start points follow from positions alone.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/graph/stage.h"
#include "stages/contours/cpu/assemble.h"

namespace contorno {

struct ContourAssemblyParams {
  Connectivity fully_connected = Connectivity::Low;
  Orientation positive_orientation = Orientation::Low;
  int min_points = 0;
};

/// The format of the map that marching_squares was given, while contour_assembly is planned.
const ImageFormat& map_behind_crossings(const PlanContext& context);
/// Capacities that are planned for maps of a format: points first, then the contours and the output format
/// that follow from them. Both backends plan the same.
std::uint64_t planned_points(const PlanContext& context, const ImageFormat& map);
std::uint64_t planned_contours(std::uint64_t points);
ContoursFormat planned_output(const PlanContext& context, const ImageFormat& map, std::uint64_t points);
/// The point capacity that a frame with `counts` needs; 0 if it fits a plan for `points` points.
std::uint64_t contour_capacity_needed(const ContourCounts& counts, std::uint64_t points);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_contour_assembly_cuda(const ParamSet& params);

const StageType& contour_assembly_stage();

}  // namespace contorno
