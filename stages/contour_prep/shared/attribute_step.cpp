#include "stages/contour_prep/shared/attribute_step.h"

#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {

AttributeStep::AttributeStep(Backend backend, Attributes gives) : backend_(backend), gives_(gives) {}

void AttributeStep::plan(PlanContext& context) {
  ContoursFormat format = std::get<ContoursFormat>(context.input(0));
  sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t),
                               backend_ == Backend::Cuda ? MemoryKind::Device : MemoryKind::Host);
  plan_computing(context, format);
  format.attributes = format.attributes.with(gives_);
  context.set_output(0, format);
}

void AttributeStep::run(const RunContext& context) const {
  const auto& in = std::get<ContoursView>(context.inputs[0]);
  const auto& out = std::get<ContoursView>(context.outputs[0]);
  if (backend_ == Backend::Cuda) {
    copy_contours_async(in, out, context.stream);
  } else {
    if (!begin_output(in, out)) return skip(context);
    copy_contours(in, out);
  }
  compute(context, out, context.scratch<std::uint32_t>(sources_));
}

}  // namespace contorno
