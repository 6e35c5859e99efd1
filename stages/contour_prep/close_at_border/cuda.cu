// close_at_border on the device.
#include <bit>

#include "stages/contour_prep/close_at_border/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/pair_sort.h"

namespace contorno {
namespace {

class CloseAtBorderCuda final : public Stage {
 public:
  explicit CloseAtBorderCuda(const CloseAtBorderParams& params) : orientation_(params.positive_orientation) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const std::size_t contours = format.contour_capacity, ends = 2 * contours;
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    const int class_bits = static_cast<int>(std::bit_width(static_cast<unsigned>(format.classes)));
    sort_along_.plan(context, ends, kEndBits + class_bits);
    sort_depths_.plan(context, ends, close_at_border_cuda::kDepthBits + class_bits);
    open_sum_.plan(context, ends + 1);
    placement_.plan(context, format);
    for (Scratch* one : {&keys_, &along_, &by_depth_}) *one = take(ends * sizeof(unsigned long long));
    for (Scratch* one : {&ends_, &ends_along_, &ends_by_depth_}) *one = take(ends * sizeof(unsigned));
    open_ = take((ends + 1) * sizeof(unsigned long long));
    for (Scratch* one : {&next_, &first_, &before_, &points_}) *one = take(contours * sizeof(unsigned));
    launch_.plan();
    context.set_output(0, closed_format(context));
  }

  void run(const RunContext& context) const override {
    const close_at_border_cuda::Job job = job_of(context);
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
  close_at_border_cuda::Job job_of(const RunContext& context) const {
    const auto keys = [&](Scratch one) { return context.scratch<unsigned long long>(one); };
    const auto numbers = [&](Scratch one) { return context.scratch<unsigned>(one); };
    const PlacementView placement = placement_.view(context);
    return {.placement = placement,
            .border = MapBorder(placement.in.format, orientation_),
            .keys = keys(keys_),
            .along = keys(along_),
            .by_depth = keys(by_depth_),
            .ends = numbers(ends_),
            .ends_along = numbers(ends_along_),
            .ends_by_depth = numbers(ends_by_depth_),
            .open = keys(open_),
            .next = numbers(next_),
            .first = numbers(first_),
            .before = numbers(before_),
            .points = numbers(points_)};
  }

  Orientation orientation_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_along_, sort_depths_;
  PrefixSum open_sum_;
  ContourPlacement placement_;
  Scratch keys_, along_, by_depth_, ends_, ends_along_, ends_by_depth_, open_;  // of ends
  Scratch next_, first_, before_, points_;                                      // of contours
};

}  // namespace

std::unique_ptr<Stage> make_close_at_border_cuda(const ParamSet& params) {
  return std::make_unique<CloseAtBorderCuda>(params.as<CloseAtBorderParams>());
}

}  // namespace contorno
