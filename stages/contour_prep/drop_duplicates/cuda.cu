// drop_duplicates on the device.
#include "cuda/thrust.cuh"
#include "stages/contour_prep/drop_duplicates/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

class DropDuplicatesCuda final : public Stage {
 public:
  explicit DropDuplicatesCuda(const DropDuplicatesParams& params)
      : nearness_(params.distance), rule_(params.rule) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    bins_.plan(context, format);
    selection_.plan(context, format);
    if (rule_ == DuplicateRule::KeptEarlier)
      arrays_.plan(context, MemoryKind::Device, format, drop_duplicates_cuda::Job{});
    launch_.plan(format.point_capacity);
    launch_wide_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    drop_duplicates_cuda::Job job;
    if (rule_ == DuplicateRule::KeptEarlier) job = arrays_.of(context, job);
    job.in = in, job.bins = bins_.view(context, nearness_), job.keep = selection_.keep(context);
    bins_.run(context, in, nearness_, job.zeroed);
    if (rule_ == DuplicateRule::AnyEarlier) {
      for_each_number("mark_any_earlier", context.stream, in.format.point_capacity,
                      drop_duplicates_cuda::MarkAnyEarlier{job});
    } else {
      job.lay_zeroed();
      launch_wide_("list_near", drop_duplicates_cuda::list_near, context.stream, job);
      launch_.with_shared(sizeof(drop_duplicates_cuda::MarkShared), "mark_kept_earlier",
                          drop_duplicates_cuda::mark_kept_earlier, context.stream, job);
    }
    selection_.run(context);
  }

 private:
  Nearness nearness_;
  DuplicateRule rule_;
  DeviceBins bins_;
  DeviceSelection selection_;
  ArrayLaunch launch_;
  ArrayLaunch launch_wide_;  ///< launch with several threads a point
  PlannedArrays arrays_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_duplicates_cuda(const ParamSet& params) {
  return std::make_unique<DropDuplicatesCuda>(params.as<DropDuplicatesParams>());
}

}  // namespace contorno
