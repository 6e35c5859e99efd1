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
    const std::size_t contours = format.contour_capacity;
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    boxes_ = take(contours * sizeof(Box));
    left_ = take(contours * sizeof(unsigned));
    sorted_ = take(contours * sizeof(unsigned));
    if (is_drawn())
      starts_ = take(contours * sizeof(unsigned));
    else {
      using order_nearest_cuda::kListed, order_nearest_cuda::kMostPaired;
      lists_ = take(contours * kListed * sizeof(unsigned));
      room_for_pairs_ = static_cast<unsigned>(std::min<std::size_t>(contours, kMostPaired));
      distances_ = take(std::size_t{room_for_pairs_} * room_for_pairs_ * sizeof(unsigned long long));
    }
    // Bits of the classes, in whole words.
    visited_bytes_ = (contours / 32 + static_cast<std::size_t>(format.classes) + 1) * sizeof(unsigned);
    if (!shares_visited()) visited_ = take(visited_bytes_);
    if (params_.order == DrawingOrder::TwoOpt) {
      for (Scratch* ends : {&downs_, &ups_}) *ends = take(contours * sizeof(Point));
      too_many_ = context.scratch(sizeof(unsigned), MemoryKind::Pinned);
    }
    order_.plan(context, format);
    launch_.plan();
    list_blocks_ = static_cast<unsigned>(std::clamp<std::uint64_t>(
        format.contour_capacity, 1, std::uint64_t{kBlocksPerMultiprocessor} * multiprocessors()));
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    using namespace order_nearest_cuda;
    const auto numbers = [&](bool has, Scratch of) { return has ? context.scratch<unsigned>(of) : nullptr; };
    const Job job{.in = std::get<ContoursView>(context.inputs[0]),
                  .boxes = context.scratch<Box>(boxes_),
                  .lists = numbers(!is_drawn(), lists_),
                  .distances = is_drawn() ? nullptr : context.scratch<unsigned long long>(distances_),
                  .room_for_pairs = room_for_pairs_,
                  .left = context.scratch<unsigned>(left_),
                  .visited = numbers(!shares_visited(), visited_),
                  .sorted = context.scratch<unsigned>(sorted_),
                  .starts = numbers(is_drawn(), starts_)};
    const std::size_t shared = sizeof(Step) + (shares_visited() ? visited_bytes_ : 0);
    launch_("bound_contours", bound_contours, context.stream, job);
    if (is_drawn()) {
      launch_classes("order_ends", order_ends, shared, context, job);
    } else {
      launch_("measure_pairs", measure_pairs, context.stream, job);
      launch("list_nearest", list_nearest, LaunchKind::Plain, LaunchOrder::AfterPrevious, list_blocks_,
             kArrayThreads, sizeof(Lists), context.stream, job);
      launch_classes("order_contours", order_contours, shared, context, job);
    }
    if (params_.order == DrawingOrder::TwoOpt)
      launch_classes("shorten_ways", shorten_ways, sizeof(Turn), context,
                     TurnJob{.in = job.in,
                             .sorted = job.sorted,
                             .starts = job.starts,
                             .downs = context.scratch<Point>(downs_),
                             .ups = context.scratch<Point>(ups_),
                             .passes = params_.passes,
                             .too_many = context.scratch<unsigned>(too_many_)});
    order_.write_first(context, job.sorted, ~0U, job.starts);
  }

  std::uint64_t overflow(const RunContext& context) const override {
    if (params_.order == DrawingOrder::TwoOpt && *context.scratch<unsigned>(too_many_) != 0)
      throw_too_many_to_turn();
    return 0;
  }

  std::optional<Scratch> selection() const override {
    return is_drawn() ? std::nullopt : std::optional(order_.sources());
  }

 private:
  bool is_drawn() const { return params_.order != DrawingOrder::Greedy; }

  /// Whether the bits of what is visited lie in shared memory, where a step of the order is faster.
  bool shares_visited() const { return visited_bytes_ <= kMostShared; }

  /// A block a class, as far as there are multiprocessors.
  template <class Kernel, class Arguments>
  static void launch_classes(const char* name, Kernel* kernel, std::size_t shared, const RunContext& context,
                             const Arguments& arguments) {
    launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious,
           std::clamp(static_cast<unsigned>(arguments.in.format.classes), 1U, multiprocessors()),
           order_nearest_cuda::kOrderThreads, shared, context.stream, arguments);
  }

  static constexpr std::size_t kMostShared = 32 << 10;  // bits of 262,000 contours
  static constexpr unsigned kBlocksPerMultiprocessor = 8;

  OrderNearestParams params_;
  ArrayLaunch launch_;
  ContourOrder order_;
  unsigned room_for_pairs_ = 0, list_blocks_ = 1;
  std::size_t visited_bytes_ = 0;
  Scratch boxes_, lists_, distances_, left_, visited_, sorted_, starts_, downs_, ups_, too_many_;
};

}  // namespace

std::unique_ptr<Stage> make_order_nearest_cuda(const ParamSet& params) {
  return std::make_unique<OrderNearestCuda>(params.as<OrderNearestParams>());
}

}  // namespace contorno
