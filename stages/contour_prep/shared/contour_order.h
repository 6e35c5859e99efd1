// Whole contours in another order, and how the contours of an output begin.
#pragma once

#include <cstddef>
#include <cstdint>

#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/placement.h"

namespace contorno {

/// Begins `out` as contours of the format of `in` without any. Returns whether `in` fits its capacities; if
/// not, `out` gets its counts, and is complete: the frame runs again with more room. On the CPU.
bool begin_output(const ContoursView& in, const ContoursView& out);

/// Writes contours of `in`, which fits, to `out`, which has room for them and their classes already:
/// contour sources[i] becomes contour i. `starts`: of each contour of `in` the own point from which on it is
/// drawn (drawn_point); null: the first. On the CPU.
void gather_contours(const ContoursView& in, const std::uint32_t* sources, const ContoursView& out,
                     const std::uint32_t* starts = nullptr);

/// A choice of whole contours, in their order, from a stage's input to its output. On the CPU.
class HostChoice {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// Flags, to be written: whether a contour of the input stays.
  std::uint8_t* chosen(const RunContext& context) const { return context.scratch<std::uint8_t>(chosen_); }
  void write(const RunContext& context) const;
  /// See Stage::selection.
  Scratch sources() const { return sources_; }

 private:
  Scratch chosen_, sources_;
};

/// Writes whole contours on the device, with what begin_output does.
class ContourOrder {
 public:
  /// Asks for scratch, as part of the stage's plan.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// For the stage's kernels that write words, before `write`.
  PlacementView view(const RunContext& context) const { return placement_.view(context); }
  /// Writes the contours whose word is contour_word(their points); of others it is 0.
  void write(const RunContext& context) const { write(context, placement_.view(context), nullptr); }
  /// Writes of each class the first `limit` contours of an order, which has the numbers of all contours,
  /// class by class. `starts` as of gather_contours.
  void write_first(const RunContext& context, const unsigned* order, unsigned limit,
                   const unsigned* starts = nullptr) const;
  /// See Stage::selection.
  Scratch sources() const { return placement_.sources(); }

 private:
  void write(const RunContext& context, const PlacementView& placement, const unsigned* starts) const;

  ArrayLaunch launch_;
  ContourPlacement placement_;
};

/// HostChoice on the device.
class DeviceChoice {
 public:
  void plan(PlanContext& context, const ContoursFormat& format);
  std::uint8_t* chosen(const RunContext& context) const { return context.scratch<std::uint8_t>(chosen_); }
  void write(const RunContext& context) const;
  Scratch sources() const { return order_.sources(); }

 private:
  ArrayLaunch launch_;
  ContourOrder order_;
  Scratch chosen_;
};

}  // namespace contorno
