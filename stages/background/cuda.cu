// Background on the device: one launch a frame.
#include "stages/background/kernels.cuh"
#include "stages/background/plan.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace background_cuda {
namespace {

class BackgroundCuda final : public Stage {
 public:
  explicit BackgroundCuda(const ParamSet& params) : params_(params.as<BackgroundParams>()) {}

  void plan(PlanContext& context) override {
    const BackgroundPlan plan = make_background_plan(params_, context);
    state_ = plan.state;
    reference_ = device_table(plan.reference);
    job_ = Job{.pixel = plan.pixel,
               .paint = plan.paint,
               .paints = plan.paints,
               .least_step = plan.least_step,
               .shape = plan.shape,
               .width = plan.in.width,
               .channels = plan.in.channels};
    job_.tiles_x = (plan.in.width + static_cast<int>(kThreads) - 1) / static_cast<int>(kThreads);
    if (!plan.reference.empty()) job_.reference = table_at<SceneColour>(reference_);
    blocks_ = static_cast<unsigned>(job_.tiles_x) * static_cast<unsigned>(plan.in.height);
  }

  void run(const RunContext& context) const override {
    const ImageView &in = context.image_in(0), &out = context.image_out(0);
    Job job = job_;
    job.in = static_cast<const std::uint8_t*>(in.data), job.in_pitch = in.row_pitch;
    job.out = static_cast<unsigned char*>(out.data), job.out_pitch = out.row_pitch;
    if (state_) {
      job.before = context.state_before<SceneHeader>(*state_);
      job.after = context.state_after<SceneHeader>(*state_);
    }
    launch("background_pixels", background_pixels, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_,
           kThreads, 0, context.stream, job);
  }

 private:
  BackgroundParams params_;
  std::optional<State> state_;
  Block reference_;
  Job job_;  ///< what does not change from frame to frame
  unsigned blocks_ = 0;
};

}  // namespace
}  // namespace background_cuda

std::unique_ptr<Stage> make_background_cuda(const ParamSet& params) {
  return std::make_unique<background_cuda::BackgroundCuda>(params);
}

}  // namespace contorno
