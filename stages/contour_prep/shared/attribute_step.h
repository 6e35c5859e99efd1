// Steps that leave contours as they are and give them attributes. What such steps have in common on either
// backend: the output with its columns, the copy of the contours, and the scratch of the selection, which has
// all contours.
#pragma once

#include "pipeline/graph/stage.h"

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

}  // namespace contorno
