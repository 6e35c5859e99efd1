// As many contours with other points: where they lie when each has been given its number of points. What does
// not fit is run again with more room (Stage::overflow), never truncated.
#pragma once

#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/prefix_sum.h"

namespace contorno {

/// On the CPU; DeviceNewPoints has the same functions. Call them in this order.
class HostNewPoints {
 public:
  /// Asks for scratch, as part of the stage's plan, for contours of `in` that become contours of `out`.
  /// `name` is that of the step, for messages.
  void plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out, const char* name);
  void clear(const RunContext&) const {}
  /// Of each contour of the stage's input, to be written.
  std::uint64_t* counts(const RunContext& context) const { return context.scratch<std::uint64_t>(counts_); }
  /// Writes offsets, closed flags, attributes, begins of the classes and counts of the output.
  void place(const RunContext& context) const;
  /// See Stage::overflow. Throws Error(BadData) when there are more points than offsets can say.
  std::uint64_t overflow(const RunContext& context) const;

 protected:
  void plan_counts(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                   const char* name, MemoryKind memory, MemoryKind answers);

  Scratch counts_, needed_;
  std::uint64_t capacity_ = 0;
  const char* name_ = "";
};

/// On the device.
class DeviceNewPoints : public HostNewPoints {
 public:
  void plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out, const char* name);
  /// Enqueues that counts are 0 at first: those of contours that there are not stay so.
  void clear(const RunContext& context) const;
  void place(const RunContext& context) const;

 private:
  std::size_t words_ = 0;
  ArrayLaunch launch_;
  PrefixSum sum_;
};

}  // namespace contorno
