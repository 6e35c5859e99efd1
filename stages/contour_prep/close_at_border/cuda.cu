// close_at_border on the device.
#include <bit>

#include "stages/contour_prep/close_at_border/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {
namespace {

class CloseAtBorderCuda final : public Stage {
 public:
  explicit CloseAtBorderCuda(const CloseAtBorderParams& params) : orientation_(params.positive_orientation) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const std::size_t ends = 2 * format.contour_capacity;
    const int class_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(format.classes)));
    arrays_.plan(context, MemoryKind::Device, format, close_at_border_cuda::Job{});
    sort_along_.plan(context, ends, kEndBits + class_bits);
    sort_depths_.plan(context, ends, close_at_border_cuda::kDepthBits + class_bits);
    open_sum_.plan(context, ends + 1);
    placement_.plan(context, format);
    launch_.plan();
    context.set_output(0, closed_format(context));
  }

  void run(const RunContext& context) const override {
    auto job = arrays_.of(context, close_at_border_cuda::Job{});
    job.placement = placement_.view(context);
    job.border = MapBorder(job.placement.in.format, orientation_);
    launch_("find_ends", close_at_border_cuda::find_ends, context.stream, job);
    sort_along_.run(context, job.keys, job.along, job.ends, job.ends_along);
    launch_("count_open", close_at_border_cuda::count_open, context.stream, job);
    open_sum_.run(context, job.open);
    launch_("find_depths", close_at_border_cuda::find_depths, context.stream, job);
    sort_depths_.run(context, job.keys, job.by_depth, job.ends_along, job.ends_by_depth);
    launch_("link_ends", close_at_border_cuda::link_ends, context.stream, job);
    launch_("find_rings", close_at_border_cuda::find_rings, context.stream, job);
    launch_.with_shared(sizeof(RangeShared), "measure_rings", close_at_border_cuda::measure_rings,
                        context.stream, job);
    launch_.with_shared(sizeof(RangeShared), "write_rings", close_at_border_cuda::write_rings, context.stream,
                        job);
  }

 private:
  Orientation orientation_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_along_, sort_depths_;
  PrefixSum open_sum_;
  ContourPlacement placement_;
  PlannedArrays arrays_;
};

}  // namespace

std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params) {
  return std::make_unique<CloseAtBorderCuda>(params.as<CloseAtBorderParams>());
}

}  // namespace contorno
