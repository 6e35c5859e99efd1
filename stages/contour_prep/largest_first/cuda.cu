// largest_first on the device.
#include "stages/contour_prep/largest_first/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/on_device.cuh"
#include "stages/contour_prep/shared/outputs.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"

namespace contorno {
namespace {

class LargestFirstCuda final : public Stage {
 public:
  explicit LargestFirstCuda(const LargestFirstParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const ContoursFormat& format = checked_contours(context);
    arrays_.plan(context, MemoryKind::Device, format, largest_first_cuda::Arrays{});
    sort_.plan(context, format.contour_capacity, 64);
    order_.plan(context, format);
    launch_.plan(format.contour_capacity);
    teams_.plan<largest_first_cuda::SizeKeys>(format.contour_capacity);
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const auto arrays = arrays_.of(context, largest_first_cuda::Arrays{});
    launch_("clear_keys", largest_first_cuda::clear_keys, context.stream, arrays,
            static_cast<unsigned>(in.format.contour_capacity));
    teams_("size_keys", in, largest_first_cuda::SizeKeys{in, params_.by, arrays.keys}, context.stream);
    sort_.run(context, {arrays.keys, arrays.sorted_keys, arrays.contours, arrays.sorted});
    order_.write_first(context, arrays.sorted,
                       params_.limit > 0 ? static_cast<unsigned>(params_.limit) : ~0U);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  LargestFirstParams params_;
  ArrayLaunch launch_;
  TeamLaunch teams_;
  PairSort<unsigned long long> sort_;
  ContourOrder order_;
  PlannedArrays arrays_;
};

}  // namespace

std::unique_ptr<Stage> make_largest_first_cuda(const ParamSet& params) {
  return std::make_unique<LargestFirstCuda>(params.as<LargestFirstParams>());
}

}  // namespace contorno
