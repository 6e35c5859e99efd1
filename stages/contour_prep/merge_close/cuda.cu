// merge_close on the device.
#include "cuda/thrust.cuh"
#include "stages/contour_prep/merge_close/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/placement.h"

namespace contorno {
namespace {

class MergeCloseCuda final : public Stage {
 public:
  explicit MergeCloseCuda(const MergeCloseParams& params) : nearness_(params.distance) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    arrays_.plan(context, MemoryKind::Device, format, merge_close_cuda::Job{});
    bins_.plan(context, format);
    sort_.plan(context, format.contour_capacity, 32);
    placement_.plan(context, format);
    launch_.plan(std::max(format.point_capacity, format.contour_capacity));
    launch_wide_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    auto job = arrays_.of(context, merge_close_cuda::Job{});
    job.placement = placement_.view(context, job.order), job.bins = bins_.view(context, nearness_);
    const ContoursView& in = job.placement.in;
    job.is_joined = job.parents + in.format.contour_capacity;
    bins_.run(context, in, nearness_, {job.parents, 2 * in.format.contour_capacity});
    for_each_number("join_in_bins", context.stream, in.format.point_capacity,
                    merge_close_cuda::JoinInBins{job});
    launch_wide_("join_bins", merge_close_cuda::join_bins, context.stream, job);
    for_each_number("find_sets", context.stream, in.format.contour_capacity, merge_close_cuda::FindSets{job});
    sort_.run(context, {job.keys, job.sorted_keys, job.contours, job.order});
    launch_.with_shared(sizeof(RangeShared), "measure_sets", merge_close_cuda::measure_sets, context.stream,
                        job);
    launch_.with_shared(sizeof(RangeShared), "write_sets", merge_close_cuda::write_sets, context.stream, job);
  }

 private:
  Nearness nearness_;
  ArrayLaunch launch_;
  ArrayLaunch launch_wide_;  ///< launch with several threads a point
  DeviceBins bins_;
  PairSort<unsigned> sort_;
  ContourPlacement placement_;
  PlannedArrays arrays_;
};

}  // namespace

std::unique_ptr<Stage> make_merge_close_cuda(const ParamSet& params) {
  return std::make_unique<MergeCloseCuda>(params.as<MergeCloseParams>());
}

}  // namespace contorno
