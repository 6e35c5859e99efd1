// Keeping some of the points of contours. What remains of a contour stays a contour, in its place; one of
// which nothing remains is left out.
//
// The repeated last point of a closed contour is no point of its own: it goes when the first one goes. A
// closed contour stays closed while all or at least 3 points remain, and its first remaining point is
// repeated. So the result does not depend on the point with which a closed contour begins.
#pragma once

#include <cstddef>
#include <cstdint>

#include "geometry/own_points.h"
#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/placement.h"

namespace contorno {

/// Writes the points of `in` with keep[i] != 0 to `out`, which has room for all points of `in`. `keep` has a
/// flag for each stored point; those of repeated points are not read. When `in` does not fit its capacities,
/// `out` gets its counts and nothing else: the frame runs again with more room.
void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out);

/// The selection of a stage, from its input to its output. On the CPU.
class HostSelection {
 public:
  void plan(PlanContext& context, const ContoursFormat& format) {
    keep_ = context.temporary(format.point_capacity, MemoryKind::Host);
  }
  std::uint8_t* keep(const RunContext& context) const { return context.scratch<std::uint8_t>(keep_); }
  void run(const RunContext& context) const {
    select_points(std::get<ContoursView>(context.inputs[0]), keep(context),
                  std::get<ContoursView>(context.outputs[0]));
  }

 private:
  Scratch keep_;
};

/// The same on the device.
class DeviceSelection {
 public:
  /// Asks for scratch, as part of the stage's plan: 1.4 bytes a point and 12 a contour.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// The flags, 0 or 1, one for each point that there is room for. The stage's kernels write those of the
  /// points that exist, before `run`.
  std::uint8_t* keep(const RunContext& context) const { return context.scratch<std::uint8_t>(keep_); }
  /// Enqueues the work, from the stage's input to its output.
  void run(const RunContext& context) const;

 private:
  ArrayLaunch launch_;
  RangeSums before_;
  ContourPlacement placement_;
  Scratch keep_, kept_;
};

}  // namespace contorno
