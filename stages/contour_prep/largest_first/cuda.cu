// largest_first on the device.
#include "stages/contour_prep/largest_first/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_order.h"
#include "stages/contour_prep/shared/pair_sort.h"

namespace contorno {
namespace {

class LargestFirstCuda final : public Stage {
 public:
  explicit LargestFirstCuda(const LargestFirstParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ContoursFormat& format = checked_contours(context);
    const std::size_t contours = format.contour_capacity;
    sort_.plan(context, contours, 64);
    for (Scratch* keys : {&keys_, &sorted_keys_})
      *keys = context.temporary(contours * sizeof(unsigned long long), MemoryKind::Device);
    for (Scratch* numbers : {&contours_, &sorted_})
      *numbers = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
    order_.plan(context, format);
    launch_.plan(std::max(format.point_capacity, format.contour_capacity));
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const largest_first_cuda::Job job = job_of(context);
    if (params_.by != ContourSize::Points) {
      launch_("clear_sums", largest_first_cuda::clear_sums, context.stream, job);
      launch_("add_segments", largest_first_cuda::add_segments, context.stream, job);
    }
    launch_("make_keys", largest_first_cuda::make_keys, context.stream, job);
    sort_.run(context, job.keys, job.sorted_keys, job.contours, job.sorted);
    order_.write_first(context, job.sorted, params_.limit > 0 ? static_cast<unsigned>(params_.limit) : ~0U);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  largest_first_cuda::Job job_of(const RunContext& context) const {
    return {.in = std::get<ContoursView>(context.inputs[0]),
            .by = params_.by,
            .keys = context.scratch<unsigned long long>(keys_),
            .sorted_keys = context.scratch<unsigned long long>(sorted_keys_),
            .contours = context.scratch<unsigned>(contours_),
            .sorted = context.scratch<unsigned>(sorted_)};
  }

  LargestFirstParams params_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_;
  ContourOrder order_;
  Scratch keys_, sorted_keys_, contours_, sorted_;
};

}  // namespace

std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params) {
  return std::make_unique<LargestFirstCuda>(params.as<LargestFirstParams>());
}

}  // namespace contorno
