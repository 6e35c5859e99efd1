// Keeping some of the points of contours. What remains of a contour stays a contour, in its place; one of
// which nothing remains is left out.
//
// The repeated last point of a closed contour is no point of its own: it goes when the first one goes. A
// closed contour stays closed while all or at least 3 points remain, and its first remaining point is
// repeated. So the result does not depend on the point with which a closed contour begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cuda/host_device.h"
#include "pipeline/graph/stage.h"

namespace contorno {

/// The points of a contour with `points` stored ones, without the repeated one.
CONTORNO_HD inline std::uint32_t own_points(std::uint32_t points, bool closed) {
  return closed && points > 1 ? points - 1 : points;
}
/// Whether a contour with `points` stored points, of which `kept` own ones remain, is closed then, and how
/// many points are stored for it: `kept`, or one more, which is the first again.
CONTORNO_HD inline bool stays_closed(std::uint32_t points, bool closed, std::uint32_t kept) {
  return closed && (kept >= 3 || kept == own_points(points, closed));
}
CONTORNO_HD inline std::uint32_t stored_points(std::uint32_t points, bool closed, std::uint32_t kept) {
  if (kept == own_points(points, closed)) return points;
  return kept + (stays_closed(points, closed, kept) ? 1U : 0U);
}

/// Writes the points of `in` with keep[i] != 0 to `out`, which has room for all points of `in`. `keep` has a
/// flag for each stored point; those of repeated points are not read. When `in` does not fit its capacities,
/// `out` gets its counts and nothing else: the frame runs again with more room. `sources`, if it is not null,
/// gets for each contour of `out` the number of the one of `in` that it is what remains of.
void select_points(const ContoursView& in, const std::uint8_t* keep, const ContoursView& out,
                   std::uint32_t* sources = nullptr);

/// The same on the device.
class PointSelection {
 public:
  PointSelection();
  ~PointSelection();
  PointSelection(const PointSelection&) = delete;
  PointSelection& operator=(const PointSelection&) = delete;

  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// The flags, one for each point that there is room for. The stage's kernels write those of the points that
  /// exist, before `run`.
  std::uint8_t* keep(const RunContext& context) const;
  void run(const RunContext& context, const ContoursView& in, const ContoursView& out) const;
  /// Where `run` leaves the `sources` of select_points.
  Scratch sources() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace contorno
