// The declaration of smooth, and its implementation on the CPU.
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/fourier/series.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/smooth/rules.h"

namespace contorno {
namespace {

using smoothing::Series;

class SmoothCpu final : public Stage {
 public:
  explicit SmoothCpu(const SmoothParams& params) : terms_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    memory_ = context.temporary(format.point_capacity * Series::kMostMemory * sizeof(fourier::Complex),
                                MemoryKind::Host);
    roots_ = fourier::transform_roots(format.point_capacity);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    if (!begin_output(in, out)) return;
    copy_contours(in, out);
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      const OwnPoints own(out, contour);
      auto* const memory = context.scratch<fourier::Complex>(memory_) + own.begin * Series::kMostMemory;
      smoothing::smooth(OneThread{}, terms_, own, out.points + own.begin, memory,
                        memory + own.count * Series::kCoefficients, roots_.data());
    });
  }

 private:
  smoothing::SmoothTerms terms_;
  std::vector<fourier::Complex> roots_;
  Scratch memory_;
};

ParamDeclaration smooth_params() {
  ParamList<SmoothParams> list;
  list.integer(
      "terms", &SmoothParams::terms, 1, 1000000000, Unit::None,
      "How many terms of its Fourier series each contour keeps: the fewer, the smoother. 1 leaves the "
      "centre of a closed contour, 3 an ellipse.");
  list.choice("keep", &SmoothParams::keep, {{"low", KeptTerms::Low}, {"top", KeptTerms::Top}},
              "Which terms are kept: those of the lowest frequencies, or the largest ones.");
  return declare(list);
}

}  // namespace

const StageType& smooth_stage() {
  static const StageType type = contour_step({
    .name = "smooth", .summary = "Smooths contours: keeps a few terms of the Fourier series of each.",
    .gives = "The same contours with points that have moved.", .params = smooth_params(),
    .example = "- type: smooth\n  terms: 31\n", .make_cpu = make_step<SmoothCpu, SmoothParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_smooth_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
