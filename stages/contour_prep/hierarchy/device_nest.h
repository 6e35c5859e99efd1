// Finds what is around contours, by the rules of hierarchy, on the device: for hierarchy itself, and for
// steps that need what lies in a contour.
#pragma once

#include "geometry/nesting.h"
#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {

/// A member of a stage on CUDA.
class DeviceNest {
 public:
  /// Asks for scratch, as part of the stage's plan, for contours of `format`: about 60 bytes a contour.
  void plan(PlanContext& context, const ContoursFormat& format);
  /// Enqueues the work on `contours`. Writes 0, 1, 2 and so on to `numbers`, one for each contour of the
  /// capacity, and to `parents` the index of the contour closest around each, kNoParent of those that lie in
  /// none. Without `parents`, writes the attributes of hierarchy instead.
  void run(const RunContext& context, const ContoursView& contours, unsigned* numbers,
           unsigned* parents = nullptr, const nesting::NestRule& rule = {}) const;
  /// When the work is complete. Throws Error(BadData) if more is around some contour than is tried.
  void check(const RunContext& context) const;

 private:
  unsigned long long none_ = 0;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_;
  PlannedArrays arrays_;
  Scratch too_many_;
};

}  // namespace contorno
