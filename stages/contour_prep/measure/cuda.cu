// measure on the device.
#include "stages/contour_prep/measure/kernels.cuh"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"

namespace contorno {
namespace {

class MeasureCuda final : public Stage {
 public:
  void plan(PlanContext& context) override {
    ContoursFormat format = std::get<ContoursFormat>(context.input(0));
    format.attributes = format.attributes.with(kMeasuredAttributes);
    sources_ = context.temporary(format.contour_capacity * sizeof(unsigned), MemoryKind::Device);
    launch_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    copy_contours_async(std::get<ContoursView>(context.inputs[0]), out, context.stream);
    launch_("measure_contours", measure_cuda::measure_contours, context.stream, out,
            context.scratch<unsigned>(sources_));
  }

  std::optional<Scratch> selection() const override { return sources_; }

 private:
  ArrayLaunch launch_;
  Scratch sources_;
};

}  // namespace

std::unique_ptr<Stage> make_measure_cuda(const ParamSet&) {
  return std::make_unique<MeasureCuda>();
}

}  // namespace contorno
