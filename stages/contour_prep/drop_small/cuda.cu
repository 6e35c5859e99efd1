// drop_small on the device.
#include "stages/contour_prep/drop_small/kernels.cuh"
#include "stages/contour_prep/shared/point_selection.h"

namespace contorno {
namespace {

using drop_small_cuda::Job;
using drop_small_cuda::kThreads;

class DropSmallCuda final : public Stage {
 public:
  explicit DropSmallCuda(const DropSmallParams& params) : least_(params) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    lengths_ = take(format.contour_capacity * sizeof(unsigned long long));
    areas_ = take(format.contour_capacity * sizeof(unsigned long long));
    selection_.plan(context, format);
    blocks_ = 4 * multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const Job job{.in = in,
                  .least = least_,
                  .lengths = context.scratch<unsigned long long>(lengths_),
                  .areas = context.scratch<unsigned long long>(areas_),
                  .keep = selection_.keep(context)};
    const auto start = [&](const char* name, auto* kernel) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0,
             context.stream, job);
    };
    if (least_.length > 0 || least_.twice_area > 0) {
      start("clear_sums", drop_small_cuda::clear_sums);
      start("add_segments", drop_small_cuda::add_segments);
    }
    start("mark_points", drop_small_cuda::mark_points);
    selection_.run(context, in, std::get<ContoursView>(context.outputs[0]));
  }

  std::optional<Scratch> selection() const override { return selection_.sources(); }

 private:
  LeastSizes least_;
  PointSelection selection_;
  unsigned blocks_ = 1;
  Scratch lengths_, areas_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_small_cuda(const ParamSet& params) {
  return std::make_unique<DropSmallCuda>(params.as<DropSmallParams>());
}

}  // namespace contorno
