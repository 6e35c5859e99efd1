// Finds what is around contours, by the rules of hierarchy: for hierarchy itself, and for steps that need
// what lies in a contour.
#pragma once

#include "geometry/nest.h"
#include "geometry/nesting.h"
#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/shared/array_launch.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
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

/// hierarchy for both backends, with HostNest or DeviceNest.
template <class On, class Nest>
class Hierarchy final : public AttributeStep {
 public:
  Hierarchy() : AttributeStep(On::kBackend, kHierarchyAttributes) {}

  std::uint64_t overflow(const RunContext& context) const override {
    nest_.check(context);
    return 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    nest_.plan(context, format);
  }
  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    nest_.run(context, out, sources);
  }

  Nest nest_;
};

}  // namespace contorno
