// drop_duplicates on the device.
#include "stages/contour_prep/drop_duplicates/kernels.cuh"
#include "stages/contour_prep/shared/point_selection.h"

namespace contorno {
namespace {

using drop_duplicates_cuda::Job;
using drop_duplicates_cuda::kChunk;
using drop_duplicates_cuda::kThreads;

class DropDuplicatesCuda final : public Stage {
 public:
  explicit DropDuplicatesCuda(const DropDuplicatesParams& params)
      : nearness_(params.distance), rule_(params.rule) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    bins_.plan(context, format);
    selection_.plan(context, format);
    const std::size_t chunks = (format.point_capacity + kChunk - 1) / kChunk;
    verdicts_ = context.temporary(chunks * sizeof(unsigned long long), MemoryKind::Device);
    next_chunk_ = context.temporary(sizeof(unsigned), MemoryKind::Device);
    blocks_ = 4 * multiprocessors();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    const Job job{.in = in,
                  .bins = bins_.view(context, nearness_),
                  .verdicts = context.scratch<unsigned long long>(verdicts_),
                  .next_chunk = context.scratch<unsigned>(next_chunk_),
                  .keep = selection_.keep(context)};
    const auto start = [&](const char* name, auto* kernel) {
      launch(name, kernel, LaunchKind::Plain, LaunchOrder::AfterPrevious, blocks_, kThreads, 0,
             context.stream, job);
    };
    bins_.run(context, in, nearness_);
    if (rule_ == DuplicateRule::AnyEarlier) {
      start("mark_any_earlier", drop_duplicates_cuda::mark_any_earlier);
    } else {
      start("clear_verdicts", drop_duplicates_cuda::clear_verdicts);
      start("mark_kept_earlier", drop_duplicates_cuda::mark_kept_earlier);
    }
    selection_.run(context, in, std::get<ContoursView>(context.outputs[0]));
  }

 private:
  Nearness nearness_;
  DuplicateRule rule_;
  DeviceBins bins_;
  PointSelection selection_;
  unsigned blocks_ = 1;
  Scratch verdicts_, next_chunk_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_duplicates_cuda(const ParamSet& params) {
  return std::make_unique<DropDuplicatesCuda>(params.as<DropDuplicatesParams>());
}

}  // namespace contorno
