// measure on the device.
#include "stages/contour_prep/measure/kernels.cuh"
#include "stages/contour_prep/measure/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {
namespace {

/// Blocks of measure_long a multiprocessor.
constexpr unsigned kLongBlocks = 4;

class MeasureCuda final : public AttributeStep {
 public:
  MeasureCuda() : AttributeStep(Backend::Cuda, kMeasuredAttributes) {}

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    candidates_ = context.temporary(format.point_capacity * sizeof(measuring::GridPoint), MemoryKind::Device);
    launch_.plan();
    multiprocessors_ = multiprocessors();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    auto* const candidates = context.scratch<measuring::GridPoint>(candidates_);
    launch_("measure_contours", measure_cuda::measure_contours, context.stream, out, sources, candidates);
    launch("measure_long", measure_cuda::measure_long, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           kLongBlocks * multiprocessors_, kArrayThreads, sizeof(measure_cuda::LongShared), context.stream,
           out, candidates);
  }

  ArrayLaunch launch_;
  unsigned multiprocessors_ = 1;
  Scratch candidates_;
};

}  // namespace

std::unique_ptr<Stage> make_measure_cuda(const ParamSet&) {
  return std::make_unique<MeasureCuda>();
}

}  // namespace contorno
