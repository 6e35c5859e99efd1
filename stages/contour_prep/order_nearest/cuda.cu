// order_nearest on the device.
#include <algorithm>

#include "stages/contour_prep/order_nearest/kernels.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/order_nearest/two_opt.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_order.h"

namespace contorno {
namespace {

class OrderNearestCuda final : public Stage {
 public:
  explicit OrderNearestCuda(const OrderNearestParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    boxes_ = context.temporary(format.contour_capacity * sizeof(Box), MemoryKind::Device);
    for (Scratch* numbers : {&left_, &sorted_})
      *numbers = context.temporary(format.contour_capacity * sizeof(unsigned), MemoryKind::Device);
    if (is_drawn())
      starts_ = context.temporary(format.contour_capacity * sizeof(unsigned), MemoryKind::Device);
    if (params_.order == DrawingOrder::TwoOpt)
      for (Scratch* ends : {&downs_, &ups_})
        *ends = context.temporary(format.contour_capacity * sizeof(Point), MemoryKind::Device);
    order_.plan(context, format);
    launch_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const order_nearest_cuda::Job job{.in = std::get<ContoursView>(context.inputs[0]),
                                      .boxes = context.scratch<Box>(boxes_),
                                      .left = context.scratch<unsigned>(left_),
                                      .sorted = context.scratch<unsigned>(sorted_),
                                      .starts = is_drawn() ? context.scratch<unsigned>(starts_) : nullptr};
    launch_("bound_contours", order_nearest_cuda::bound_contours, context.stream, job);
    if (is_drawn())
      launch_blocks<order_nearest_cuda::Step>(context, "order_ends", order_nearest_cuda::order_ends, job);
    else
      launch_blocks<order_nearest_cuda::Step>(context, "order_contours", order_nearest_cuda::order_contours,
                                              job);
    if (params_.order == DrawingOrder::TwoOpt)
      launch_blocks<order_nearest_cuda::Turn>(
          context, "shorten_ways", order_nearest_cuda::shorten_ways,
          order_nearest_cuda::TurnJob{.in = job.in,
                                      .sorted = job.sorted,
                                      .starts = job.starts,
                                      .downs = context.scratch<Point>(downs_),
                                      .ups = context.scratch<Point>(ups_),
                                      .passes = params_.passes});
    order_.write_first(context, job.sorted, ~0U, job.starts);
  }

  std::optional<Scratch> selection() const override {
    return is_drawn() ? std::nullopt : std::optional(order_.sources());
  }

 private:
  bool is_drawn() const { return params_.order != DrawingOrder::Greedy; }

  /// A block a class, as far as there are multiprocessors.
  template <class Shared, class Kernel, class Arguments>
  static void launch_blocks(const RunContext& context, const char* name, Kernel* kernel,
                            const Arguments& arguments) {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           std::clamp(static_cast<unsigned>(arguments.in.format.classes), 1U, multiprocessors()),
           order_nearest_cuda::kOrderThreads, sizeof(Shared), context.stream, arguments);
  }

  OrderNearestParams params_;
  ArrayLaunch launch_;
  ContourOrder order_;
  Scratch boxes_, left_, sorted_, starts_, downs_, ups_;
};

}  // namespace

std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet& params) {
  return std::make_unique<OrderNearestCuda>(params.as<OrderNearestParams>());
}

}  // namespace contorno
