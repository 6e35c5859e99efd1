// simplify on the device.
#include "stages/contour_prep/shared/point_selection.h"
#include "stages/contour_prep/simplify/douglas_peucker.cuh"
#include "stages/contour_prep/simplify/visvalingam.cuh"

namespace contorno {
namespace {

/// Blocks a multiprocessor: as many as run at the same time.
constexpr unsigned kSplitBlocks = 8, kRemoveBlocks = 16;

class SimplifyCuda final : public Stage {
 public:
  explicit SimplifyCuda(const SimplifyParams& params)
      : limits_(params),
        visvalingam_(params.method == SimplifyMethod::Visvalingam),
        ranks_(!visvalingam_ && params.points > 0) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    const auto take = [&](std::size_t bytes) {
      return context.temporary(format.point_capacity * bytes, MemoryKind::Device);
    };
    if (visvalingam_) {
      areas_ = take(sizeof(unsigned long long));
      before_ = take(sizeof(unsigned)), after_ = take(sizeof(unsigned)), smallest_ = take(sizeof(unsigned));
    } else {
      intervals_ = take(sizeof(Interval));
      if (ranks_) importance_ = take(sizeof(unsigned long long));
    }
    selection_.plan(context, format);
    multiprocessors_ = multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    using namespace simplify_cuda;
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    Job job{.in = in, .limits = limits_, .keep = selection_.keep(context)};
    if (visvalingam_) {
      job.areas = context.scratch<unsigned long long>(areas_);
      job.before = context.scratch<unsigned>(before_), job.after = context.scratch<unsigned>(after_);
      job.smallest = context.scratch<unsigned>(smallest_);
      launch("remove_points", remove_points, LaunchKind::Plain, LaunchOrder::AfterPrevious,
             kRemoveBlocks * multiprocessors_, kRemoveThreads, 0, context.stream, job);
    } else {
      job.intervals = context.scratch<Interval>(intervals_);
      if (ranks_) job.importance = context.scratch<unsigned long long>(importance_);
      const auto start = [&](auto* kernel, unsigned blocks, unsigned threads) {
        launch("split_contours", kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks, threads,
               sizeof(SplitShared), context.stream, job);
      };
      start(split_contours<kManyThreads>, multiprocessors_, kManyThreads);
      start(split_contours<kFewThreads>, kSplitBlocks * multiprocessors_, kFewThreads);
    }
    selection_.run(context);
  }

 private:
  SimplifyLimits limits_;
  bool visvalingam_ = false, ranks_ = false;
  PointSelection selection_;
  unsigned multiprocessors_ = 1;
  Scratch intervals_, importance_, areas_, before_, after_, smallest_;
};

}  // namespace

std::unique_ptr<Stage> make_simplify_cuda(const ParamSet& params) {
  return std::make_unique<SimplifyCuda>(params.as<SimplifyParams>());
}

}  // namespace contorno
