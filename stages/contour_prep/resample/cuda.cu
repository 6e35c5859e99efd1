// resample on the device.
#include "stages/contour_prep/resample/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/prefix_sum.h"

namespace contorno {
namespace {

class ResampleCuda final : public Stage {
 public:
  explicit ResampleCuda(const ResampleParams& params) : params_(params), steps_(params) {}

  void plan(PlanContext& context) override {
    check_resample(params_);
    const auto& in = std::get<ContoursFormat>(context.input(0));
    const auto take = [&](std::size_t words) {
      return context.temporary(words * sizeof(unsigned long long), MemoryKind::Device);
    };
    lengths_ = take(in.point_capacity);
    offsets_ = take(in.contour_capacity + 1);
    length_sum_.plan(context, in.point_capacity);
    point_sum_.plan(context, in.contour_capacity + 1);
    needed_ = context.scratch(sizeof(unsigned long long), MemoryKind::Pinned);
    launch_.plan();
    format_ = resampled_format(context, params_);
    context.set_output(0, format_);
  }

  void run(const RunContext& context) const override {
    const resample_cuda::Job job{.in = std::get<ContoursView>(context.inputs[0]),
                                 .out = std::get<ContoursView>(context.outputs[0]),
                                 .steps = steps_,
                                 .lengths = context.scratch<unsigned long long>(lengths_),
                                 .offsets = context.scratch<unsigned long long>(offsets_),
                                 .needed = context.scratch<unsigned long long>(needed_)};
    launch_("measure_segments", resample_cuda::measure_segments, context.stream, job);
    length_sum_.run(context, job.lengths);
    launch_("count_points", resample_cuda::count_points, context.stream, job);
    point_sum_.run(context, job.offsets);
    launch_("place_resampled", resample_cuda::place_resampled, context.stream, job);
    launch_("write_points", resample_cuda::write_points, context.stream, job);
  }

  std::uint64_t overflow(const RunContext& context) const override {
    return resample_capacity_needed(*context.scratch<unsigned long long>(needed_), format_.point_capacity);
  }

 private:
  ResampleParams params_;
  ResampleSteps steps_;
  ContoursFormat format_;
  ArrayLaunch launch_;
  PrefixSum length_sum_, point_sum_;
  Scratch lengths_, offsets_, needed_;
};

}  // namespace

std::unique_ptr<Stage> make_resample_cuda(const ParamSet& params) {
  return std::make_unique<ResampleCuda>(params.as<ResampleParams>());
}

}  // namespace contorno
