// merge_close on the device.
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
    const std::size_t contours = format.contour_capacity;
    bins_.plan(context, format);
    sort_.plan(context, contours, 32);
    placement_.plan(context, format);
    const auto take = [&](std::size_t count) {
      return context.temporary(count * sizeof(unsigned), MemoryKind::Device);
    };
    contour_capacity_ = contours;
    sets_ = take(2 * contours);
    for (Scratch* one : {&keys_, &sorted_keys_, &contours_, &order_, &ranks_}) *one = take(contours);
    launch_.plan(std::max(format.point_capacity, format.contour_capacity));
    launch_wide_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const merge_close_cuda::Job job = job_of(context);
    bins_.run(context, job.placement.in, nearness_, {job.parents, 2 * contour_capacity_});
    launch_("join_in_bins", merge_close_cuda::join_in_bins, context.stream, job);
    launch_wide_("join_bins", merge_close_cuda::join_bins, context.stream, job);
    launch_("find_sets", merge_close_cuda::find_sets, context.stream, job);
    sort_.run(context, job.keys, job.sorted_keys, job.contours, job.order);
    launch_.with_shared(sizeof(RangeShared), "measure_sets", merge_close_cuda::measure_sets, context.stream,
                        job);
    launch_.with_shared(sizeof(RangeShared), "write_sets", merge_close_cuda::write_sets, context.stream, job);
  }

 private:
  merge_close_cuda::Job job_of(const RunContext& context) const {
    return {.placement = placement_.view(context, context.scratch<unsigned>(order_)),
            .bins = bins_.view(context, nearness_),
            .parents = context.scratch<unsigned>(sets_),
            .is_joined = context.scratch<unsigned>(sets_) + contour_capacity_,
            .keys = context.scratch<unsigned>(keys_),
            .sorted_keys = context.scratch<unsigned>(sorted_keys_),
            .contours = context.scratch<unsigned>(contours_),
            .order = context.scratch<unsigned>(order_),
            .ranks = context.scratch<unsigned>(ranks_)};
  }

  Nearness nearness_;
  ArrayLaunch launch_;
  ArrayLaunch launch_wide_;  ///< of several threads a point
  DeviceBins bins_;
  PairSort<unsigned> sort_;
  ContourPlacement placement_;
  std::size_t contour_capacity_ = 0;
  Scratch sets_, keys_, sorted_keys_, contours_, order_, ranks_;
};

}  // namespace

std::unique_ptr<Stage> make_merge_close_cuda(const ParamSet& params) {
  return std::make_unique<MergeCloseCuda>(params.as<MergeCloseParams>());
}

}  // namespace contorno
