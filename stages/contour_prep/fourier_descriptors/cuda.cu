// fourier_descriptors on the device.
#include "stages/contour_prep/fourier_descriptors/kernels.cuh"
#include "stages/contour_prep/fourier_descriptors/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {
namespace {

class FourierDescriptorsCuda final : public AttributeStep {
 public:
  FourierDescriptorsCuda() : AttributeStep(Backend::Cuda, kFourierAttributes) {}

 private:
  void plan_computing(PlanContext&, const ContoursFormat&) override { launch_.plan(); }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    launch_("describe_contours", fourier_descriptors_cuda::describe_contours, context.stream, out, sources);
  }

  ArrayLaunch launch_;
};

}  // namespace

std::unique_ptr<Stage> make_fourier_descriptors_cuda(const ParamSet&) {
  return std::make_unique<FourierDescriptorsCuda>();
}

}  // namespace contorno
