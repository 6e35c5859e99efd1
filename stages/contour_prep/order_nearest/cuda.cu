// order_nearest on the device.
#include <algorithm>

#include "stages/contour_prep/order_nearest/kernels.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {
namespace {

using order_nearest_cuda::Job;

class OrderNearestCuda final : public Stage {
 public:
  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    boxes_ = context.temporary(format.contour_capacity * sizeof(Box), MemoryKind::Device);
    for (Scratch* numbers : {&left_, &sorted_})
      *numbers = context.temporary(format.contour_capacity * sizeof(unsigned), MemoryKind::Device);
    order_.plan(context, format);
    launch_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const Job job{.in = in,
                  .boxes = context.scratch<Box>(boxes_),
                  .left = context.scratch<unsigned>(left_),
                  .sorted = context.scratch<unsigned>(sorted_)};
    launch_("bound_contours", order_nearest_cuda::bound_contours, context.stream, job);
    launch("order_contours", order_nearest_cuda::order_contours, LaunchKind::Plain,
           LaunchOrder::AfterPrevious,
           std::clamp(static_cast<unsigned>(in.format.classes), 1U, multiprocessors()),
           order_nearest_cuda::kOrderThreads, sizeof(order_nearest_cuda::Step), context.stream, job);
    order_.write_first(context, job.sorted, ~0U);
  }

  std::optional<Scratch> selection() const override { return order_.sources(); }

 private:
  ArrayLaunch launch_;
  ContourOrder order_;
  Scratch boxes_, left_, sorted_;
};

}  // namespace

std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet&) {
  return std::make_unique<OrderNearestCuda>();
}

}  // namespace contorno
