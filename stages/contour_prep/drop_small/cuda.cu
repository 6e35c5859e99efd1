// drop_small on the device.
#include "stages/contour_prep/drop_small/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {
namespace {

class DropSmallCuda final : public Stage {
 public:
  explicit DropSmallCuda(const DropSmallParams& params) : least_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    if (needs_sums()) {
      lengths_ = take(format.contour_capacity * sizeof(unsigned long long));
      areas_ = take(format.contour_capacity * sizeof(unsigned long long));
    }
    order_.plan(context, format);
    launch_.plan(std::max(format.point_capacity, format.contour_capacity));
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    drop_small_cuda::Job job{.placement = order_.view(context), .least = least_};
    if (needs_sums()) {
      job.lengths = context.scratch<unsigned long long>(lengths_);
      job.areas = context.scratch<unsigned long long>(areas_);
      launch_("clear_sums", drop_small_cuda::clear_sums, context.stream, job);
      launch_("add_segments", drop_small_cuda::add_segments, context.stream, job);
    }
    launch_.with_shared(sizeof(RangeShared), "measure_large", drop_small_cuda::measure_large, context.stream,
                        job);
    order_.write(context);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  bool needs_sums() const { return least_.length > 0 || least_.twice_area > 0; }

  LeastSizes least_;
  ContourOrder order_;
  ArrayLaunch launch_;
  Scratch lengths_, areas_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_small_cuda(const ParamSet& params) {
  return std::make_unique<DropSmallCuda>(params.as<DropSmallParams>());
}

}  // namespace contorno
