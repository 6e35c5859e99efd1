// smooth on the device.
#include "pipeline/value/copy_contours.h"
#include "stages/contour_prep/fourier/series.h"
#include "stages/contour_prep/smooth/kernels.cuh"
#include "stages/shared/device_table.h"

namespace contorno {
namespace {

/// Blocks a multiprocessor: as many as its shared memory has room for.
constexpr unsigned kSmoothBlocks = 4;

class SmoothCuda final : public Stage {
 public:
  explicit SmoothCuda(const SmoothParams& params) : terms_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    memory_ =
        context.temporary(format.point_capacity * smoothing::Series::kMostMemory * sizeof(fourier::Complex),
                          MemoryKind::Device);
    roots_ = device_table(fourier::transform_roots(format.point_capacity));
    allow_shared("smooth_contours", smooth_cuda::smooth_contours, sizeof(smooth_cuda::SmoothShared));
    blocks_ = kSmoothBlocks * multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& out = std::get<ContoursView>(context.outputs[0]);
    copy_contours_async(std::get<ContoursView>(context.inputs[0]), out, context.stream);
    launch("smooth_contours", smooth_cuda::smooth_contours, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           blocks_, smooth_cuda::kSmoothThreads, sizeof(smooth_cuda::SmoothShared), context.stream, out,
           terms_, context.scratch<fourier::Complex>(memory_), table_at<fourier::Complex>(roots_));
  }

 private:
  smoothing::SmoothTerms terms_;
  unsigned blocks_ = 1;
  Block roots_;
  Scratch memory_;
};

}  // namespace

std::unique_ptr<Stage> make_smooth_cuda(const ParamSet& params) {
  return std::make_unique<SmoothCuda>(params.as<SmoothParams>());
}

}  // namespace contorno
