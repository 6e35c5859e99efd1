// order_nearest on the device.
#include <algorithm>

#include "stages/contour_prep/order_nearest/kernels.cuh"
#include "stages/contour_prep/order_nearest/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {
namespace {

class OrderNearestCuda final : public Stage {
 public:
  explicit OrderNearestCuda(const OrderNearestParams& params) : params_(params) {}

  void plan(PlanContext& context) override {
    using order_nearest_cuda::Job;
    const auto& format = std::get<ContoursFormat>(context.input(0));
    arrays_.plan(context, MemoryKind::Device, format, Job{.order = params_.order});
    refused_ = context.scratch(sizeof(unsigned), MemoryKind::Pinned);
    const std::size_t visited = Job::visited_bytes(format);
    step_bytes_ =
        sizeof(order_nearest_cuda::Step) + (visited <= order_nearest_cuda::kMostVisitedShared ? visited : 0);
    order_.plan(context, format);
    launch_.plan();
    list_blocks_ = static_cast<unsigned>(std::clamp<std::uint64_t>(
        format.contour_capacity, 1, std::uint64_t{kBlocksPerMultiprocessor} * multiprocessors()));
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    using namespace order_nearest_cuda;
    auto job = arrays_.of(context, Job{.order = params_.order});
    job.in = std::get<ContoursView>(context.inputs[0]);
    job.refused = context.scratch<unsigned>(refused_);
    launch_("bound_contours", bound_contours, context.stream, job);
    if (is_drawn()) {
      launch_classes("order_ends", order_ends, context, job);
    } else {
      launch_("measure_pairs", measure_pairs, context.stream, job);
      launch("list_nearest", list_nearest, LaunchKind::Plain, LaunchOrder::AfterPrevious, list_blocks_,
             kArrayThreads, sizeof(Lists), context.stream, job);
      launch_classes("order_contours", order_contours, context, job);
    }
    order_.write_first(context, job.sorted, ~0U, job.starts);
  }

  std::uint64_t overflow(const RunContext& context) const override {
    if (const unsigned contours = *context.scratch<unsigned>(refused_); contours > 0)
      throw_too_many_steps(contours);
    return 0;
  }

  std::optional<Scratch> selection() const override {
    return is_drawn() ? std::nullopt : std::optional(order_.sources());
  }

 private:
  bool is_drawn() const { return params_.order == DrawingOrder::Endpoint; }

  /// A block a class, as far as there are multiprocessors.
  template <class Kernel>
  void launch_classes(const char* name, Kernel* kernel, const RunContext& context,
                      const order_nearest_cuda::Job& job) const {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           std::clamp(static_cast<unsigned>(job.in.format.classes), 1U, multiprocessors()),
           order_nearest_cuda::kOrderThreads, step_bytes_, context.stream, job);
  }

  static constexpr unsigned kBlocksPerMultiprocessor = 8;

  OrderNearestParams params_;
  ArrayLaunch launch_;
  ContourOrder order_;
  unsigned list_blocks_ = 1;
  std::size_t step_bytes_ = 0;
  PlannedArrays arrays_;
  Scratch refused_;
};

}  // namespace

std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet& params) {
  return std::make_unique<OrderNearestCuda>(params.as<OrderNearestParams>());
}

}  // namespace contorno
