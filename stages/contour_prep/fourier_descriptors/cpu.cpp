// The declaration of fourier_descriptors, and its implementation on the CPU.
#include "stages/contour_prep/fourier_descriptors/rules.h"
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_step.h"

namespace contorno {
namespace {

using describing::FourierSums;

class FourierDescriptorsCpu final : public AttributeStep {
 public:
  FourierDescriptorsCpu() : AttributeStep(Backend::Cpu, kFourierAttributes) {}

 private:
  void plan_computing(PlanContext&, const ContoursFormat&) override {}

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      sources[contour] = contour;
      const OwnPoints own(out, contour);
      FourierSums lanes[kLanes];
      for (std::uint32_t i = 0; i < own.count; ++i) lanes[i % kLanes].add(own, i);
      describing::write(out, contour, own.closed, own.count, sum_of_lanes(lanes));
    });
  }
};

}  // namespace

const StageType& fourier_descriptors_stage() {
  static const StageType type = contour_step({
    .name = "fourier_descriptors",
    .summary = "Describes the form of closed contours by their Fourier coefficients.",
    .gives = "The same contours, with their descriptors as attributes.",
    .params = declare(ParamList<NoParams>()), .example = "- type: fourier_descriptors\n",
    .make_cpu = make_step<FourierDescriptorsCpu, NoParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_fourier_descriptors_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
