// Contours of class maps, in two parts: marching squares says which samples of each class's map are above
// that class's level, and the assembly joins the cells that are crossed to contours with sub-pixel points,
// those of scikit-image's find_contours in the same order. A graph may name the parts as two nodes,
// marching_squares and contour_assembly.
//
// Input: maps, one channel a class, of any element type (integers are probabilities: v / 255, v / 65535),
// planar or interleaved. NaN marks samples that may not be used: no contour passes a cell that has one.
//
// Output: contours of all classes, points rounded from float64 to float32. A contour is open where the map
// ends and where samples are NaN. Where a class has several levels, the contours of each are those that it
// would have alone, level after level, and say their level (Attribute::Level).
//
// Memory: three quarters of a byte a sample and less, 16 bytes a contour, and the planned capacities; with
// several levels up to 64 MiB in place of that of the samples, or what one level needs. A frame that has more
// points is counted, never truncated: overflow() says what it needs.
//
// Both backends give the same bits: comparisons are exact in every type and instruction set, points are
// interpolated in float64 from the same two samples in the same order, and order and start points follow from
// positions alone.
#pragma once

#include <cstdint>
#include <memory>

#include "pipeline/graph/stage.h"
#include "stages/contours/cpu/assemble.h"

namespace contorno {

struct ContoursParams {
  Connectivity fully_connected = Connectivity::Low;
  Orientation positive_orientation = Orientation::Low;
  int min_points = 0;
};

/// The parts of contours_stage (RunContext::end_part).
inline constexpr std::size_t kMarchingSquares = 0, kContourAssembly = 1;

/// The format of the input. Throws Error(BadConfig) where it has not a channel a class.
const ImageFormat& checked_map(const PlanContext& context);
/// Capacities that are planned for maps of a format: points first, then the contours and the output format
/// that follow from them. Both backends plan the same.
std::uint64_t planned_points(const PlanContext& context, const ImageFormat& map);
std::uint64_t planned_contours(std::uint64_t points);
ContoursFormat planned_output(const PlanContext& context, const ImageFormat& map, std::uint64_t points);
/// The point capacity that a frame with `counts` needs; 0 if it fits a plan for `points` points.
std::uint64_t contour_capacity_needed(const ContourCounts& counts, std::uint64_t points);

/// The CUDA implementation; only in builds that have CUDA.
std::unique_ptr<Stage> make_contours_cuda(const ParamSet& params);

const StageType& contours_stage();

}  // namespace contorno
