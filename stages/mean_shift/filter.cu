// mean_shift_filter on the device: two launches a frame.
#include "stages/mean_shift/filter.h"
#include "stages/mean_shift/image_launch.cuh"

namespace contorno {
namespace {

class MeanShiftFilterCuda final : public Stage {
 public:
  explicit MeanShiftFilterCuda(const ParamSet& params) : params_(params.as<MeanShiftFilterParams>()) {}

  void plan(PlanContext& context) override {
    const MeanShiftImagePlan plan =
        make_mean_shift_image_plan("mean_shift_filter", params_, context.image(0));
    context.set_output(0, plan.in);
    climb_.plan(context, plan);
  }

  void run(const RunContext& context) const override {
    climb_.enqueue(context, context.image_out(0), nullptr);
  }

 private:
  MeanShiftFilterParams params_;
  mean_shift_cuda::ImageClimb climb_;
};

}  // namespace

std::unique_ptr<Stage> make_mean_shift_filter_cuda(const ParamSet& params) {
  return std::make_unique<MeanShiftFilterCuda>(params);
}

}  // namespace contorno
