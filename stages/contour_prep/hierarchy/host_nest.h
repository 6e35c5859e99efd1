// Finds what is around contours, by the rules of hierarchy, on the CPU, for steps.
#pragma once

#include "geometry/nest.h"
#include "stages/contour_prep/shared/arrays.h"

namespace contorno {

/// DeviceNest on the CPU, which throws at once where more is around some contour than is tried.
class HostNest {
 public:
  void plan(PlanContext& context, const ContoursFormat& format) {
    memory_.plan(context, MemoryKind::Host, format, nesting::NestMemory{});
  }
  void run(const RunContext& context, const ContoursView& contours, unsigned* numbers,
           unsigned* parents = nullptr, const nesting::NestRule& rule = {}) const {
    const nesting::Nest nest(contours, memory_.of(context, nesting::NestMemory{}), context.threads, rule);
    nest.for_each(context.threads, [&](std::uint32_t contour, const nesting::Around& around) {
      numbers[contour] = contour;
      if (parents != nullptr)
        parents[contour] = around.parent_or_none();
      else
        nesting::write(contours, contour, around);
    });
  }
  void check(const RunContext&) const {}

 private:
  PlannedArrays memory_;
};

}  // namespace contorno
