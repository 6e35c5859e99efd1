// Steps that leave contours as they are and give them attributes. What such steps have in common on either
// backend: the output with its columns, the copy of the contours, and the scratch of the selection, which has
// all contours.
#pragma once

#include "pipeline/graph/stage.h"
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {

class AttributeStep : public Stage {
 public:
  /// On `backend`, Cpu or Cuda, with the attributes that the step `gives`.
  AttributeStep(Backend backend, Attributes gives);

  void plan(PlanContext& context) final;
  void run(const RunContext& context) const final;
  std::optional<Scratch> selection() const final { return sources_; }

 protected:
  /// Asks for the scratch of `compute`, for contours of `format`.
  virtual void plan_computing(PlanContext& context, const ContoursFormat& format) = 0;
  /// Writes the attributes to the columns of `out`, which has the contours by then (on CUDA in the order of
  /// the stream), and to sources[i] the index i, for each contour (see Stage::selection). On the CPU contours
  /// fit; on CUDA it enqueues kernels, which must check that (ContoursView::fits).
  virtual void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const = 0;
  /// In place of `compute` on the CPU, where the contours did not fit: what `overflow` reads must say so.
  virtual void skip(const RunContext& /*context*/) const {}

 private:
  Backend backend_;
  Attributes gives_;
  Scratch sources_;
};

inline AttributeStep::AttributeStep(Backend backend, Attributes gives) : backend_(backend), gives_(gives) {}

inline void AttributeStep::plan(PlanContext& context) {
  ContoursFormat format = std::get<ContoursFormat>(context.input(0));
  sources_ = context.temporary(format.contour_capacity * sizeof(std::uint32_t),
                               backend_ == Backend::Cuda ? MemoryKind::Device : MemoryKind::Host);
  plan_computing(context, format);
  format.attributes = format.attributes.with(gives_);
  context.set_output(0, format);
}

inline void AttributeStep::run(const RunContext& context) const {
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
