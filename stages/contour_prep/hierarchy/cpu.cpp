// The declaration of hierarchy, and its implementation on the CPU.
#include "geometry/nest.h"
#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

class HierarchyCpu final : public AttributeStep {
 public:
  HierarchyCpu() : AttributeStep(Backend::Cpu, kHierarchyAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    nest_.plan(context, MemoryKind::Host, format, nesting::NestMemory{});
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    const nesting::Nest nest(out, nest_.of(context, nesting::NestMemory{}), context.threads);
    nest.for_each(context.threads, [&](std::uint32_t contour, const nesting::Around& around) {
      sources[contour] = contour;
      nesting::write(out, contour, around);
    });
  }

  PlannedArrays nest_;
};

}  // namespace

const StageType& hierarchy_stage() {
  static const StageType type = contour_step({
      .name = "hierarchy",
      .summary = "Finds which contours lie in which: parent and depth of every contour.",
      .gives = "The same contours, with their number, parent and depth as attributes.",
      .params = declare(ParamList<NoParams>()),
      .example = "- type: hierarchy\n",
      .make_cpu = make_step<HierarchyCpu, NoParams>,
      .make_cuda = on_cuda<make_hierarchy_cuda>(),
  });
  return type;
}

}  // namespace contorno
