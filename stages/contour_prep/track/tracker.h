// Follows objects from frame to frame, by the rules of track: for track itself, and for steps that need the
// ids. One on each backend, with the same functions; a member of a stage.
#pragma once

#include <memory>
#include <span>

#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"
#include "stages/contour_prep/track/stage.h"

namespace contorno {

/// On the CPU.
class HostTracker {
 public:
  explicit HostTracker(const TrackParams& params) : limits_(params) {}

  /// Asks for memory and state, as part of the stage's plan. Of class `class_of_holes` holes are objects, and
  /// outer contours are none; -1: of no class.
  void plan(PlanContext& context, const ContoursFormat& format, int class_of_holes = -1);
  /// Writes the attributes of track to the columns of `out`, which has the contours, and the state behind the
  /// frame; to `sources` 0, 1, 2 and so on, one for each contour.
  void run(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const;
  /// See Stage::track_counts.
  std::span<const TrackCounts> counts(const RunContext& context) const;

 private:
  tracking::Limits limits_;
  int classes_ = 0;
  State state_;
  PlannedArrays arrays_;
};

/// On CUDA, where `run` enqueues the work; only in builds that have CUDA.
class DeviceTracker {
 public:
  explicit DeviceTracker(const TrackParams& params) : limits_(params) {}

  void plan(PlanContext& context, const ContoursFormat& format, int class_of_holes = -1);
  void run(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const;
  std::span<const TrackCounts> counts(const RunContext& context) const;

 private:
  tracking::Limits limits_;
  int classes_ = 0;
  unsigned long long none_ = 0;
  State state_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_;
  PlannedArrays arrays_;
  Scratch counts_;
};

/// Declares the parameters of track for a struct that begins with TrackParams.
template <class Params>
void add_track_params(ParamList<Params>& list) {
  const auto of = []<class F>(F TrackParams::*member) { return static_cast<F Params::*>(member); };
  list.number("min_overlap", of(&TrackParams::min_overlap), 0, 1, Unit::Fraction,
              "Boxes of the same object overlap by at least this part of what they cover together.");
  list.number("max_distance", of(&TrackParams::max_distance), 0, 1e9, Unit::Pixels,
              "Centroids of the same object are at most this far apart where boxes do not overlap so much.");
  list.integer(
      "max_missed", of(&TrackParams::max_missed), 0, 1'000'000'000, Unit::Frames,
      "An object that is out of sight for more frames than this is dead; frames that were dropped count.");
  list.integer("max_objects", of(&TrackParams::max_objects), 1, 65536, Unit::None,
               "Objects that are known at a time; of more, the last contours are forgotten.");
  list.choice("positive_orientation", of(&TrackParams::positive_orientation),
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "What contours run around counter-clockwise, as contour_assembly was told: regions that are "
              "low, or high. It tells holes, which are no objects.");
}

}  // namespace contorno
