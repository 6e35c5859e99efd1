// exclude on the device.
#include "stages/contour_prep/exclude/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/point_selection.h"
#include "stages/shared/device_table.h"

namespace contorno {
namespace {

class ExcludeCuda final : public Stage {
 public:
  explicit ExcludeCuda(const ExcludeParams& params) : region_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    selection_.plan(context, format);
    begins_ = device_table(region_.begins());
    lists_ = device_table(region_.lists());
    mask_ = device_table(region_.mask());
    launch_.plan(format.point_capacity);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    exclude_cuda::Job job{.in = in, .region = region_.view(), .keep = selection_.keep(context)};
    job.region.begins = table_at<std::uint32_t>(begins_);
    job.region.lists = table_at<Stroke>(lists_);
    job.region.mask = table_at<std::uint8_t>(mask_);
    launch_("mark_points", exclude_cuda::mark_points, context.stream, job);
    selection_.run(context);
  }

 private:
  Region region_;
  PointSelection selection_;
  ArrayLaunch launch_;
  Block begins_, lists_, mask_;
};

}  // namespace

std::unique_ptr<Stage> make_exclude_cuda(const ParamSet& params) {
  return std::make_unique<ExcludeCuda>(params.as<ExcludeParams>());
}

}  // namespace contorno
