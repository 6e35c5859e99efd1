// hierarchy for both backends, with what finds what lies in what: HostNest (host_nest.h) or DeviceNest
// (device_nest.h).
#pragma once

#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {

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
