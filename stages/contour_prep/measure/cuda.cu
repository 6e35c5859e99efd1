// measure on the device.
#include "stages/contour_prep/measure/kernels.cuh"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {
namespace {

class MeasureCuda final : public AttributeStep {
 public:
  MeasureCuda() : AttributeStep(Backend::Cuda, kMeasuredAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    candidates_ = context.temporary(format.point_capacity * sizeof(unsigned), MemoryKind::Device);
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    launch_("measure_contours", measure_cuda::measure_contours, context.stream, out, sources,
            context.scratch<unsigned>(candidates_));
  }

  ArrayLaunch launch_;
  Scratch candidates_;
};

}  // namespace

std::unique_ptr<Stage> make_measure_cuda(const ParamSet&) {
  return std::make_unique<MeasureCuda>();
}

}  // namespace contorno
