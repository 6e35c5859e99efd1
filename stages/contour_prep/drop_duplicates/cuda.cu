// drop_duplicates on the device.
#include <algorithm>

#include "stages/contour_prep/drop_duplicates/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/point_selection.h"

namespace contorno {
namespace {

class DropDuplicatesCuda final : public Stage {
 public:
  explicit DropDuplicatesCuda(const DropDuplicatesParams& params)
      : nearness_(params.distance), rule_(params.rule) {}

  void plan(PlanContext& context) override {
    const auto& format = std::get<ContoursFormat>(context.input(0));
    bins_.plan(context, format);
    selection_.plan(context, format);
    if (rule_ == DuplicateRule::KeptEarlier) {
      using drop_duplicates_cuda::kChunk;
      const std::size_t chunks = (format.point_capacity + kChunk - 1) / kChunk;
      verdicts_ = context.temporary(chunks * sizeof(unsigned long long), MemoryKind::Device);
      next_chunk_ = context.temporary(sizeof(unsigned), MemoryKind::Device);
      using drop_duplicates_cuda::kMostListed, drop_duplicates_cuda::kMostNear;
      room_for_lists_ = static_cast<unsigned>(std::min<std::uint64_t>(format.point_capacity, kMostListed));
      near_counts_ = context.temporary(room_for_lists_ * sizeof(unsigned), MemoryKind::Device);
      near_lists_ = context.temporary(kMostNear * room_for_lists_ * sizeof(unsigned), MemoryKind::Device);
    }
    launch_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    drop_duplicates_cuda::Job job{
        .in = in, .bins = bins_.view(context, nearness_), .keep = selection_.keep(context)};
    bins_.run(context, in, nearness_);
    if (rule_ == DuplicateRule::AnyEarlier) {
      launch_("mark_any_earlier", drop_duplicates_cuda::mark_any_earlier, context.stream, job);
    } else {
      job.verdicts = context.scratch<unsigned long long>(verdicts_);
      job.next_chunk = context.scratch<unsigned>(next_chunk_);
      job.near_counts = context.scratch<unsigned>(near_counts_);
      job.room_for_lists = room_for_lists_;
      job.near_lists = context.scratch<unsigned>(near_lists_);
      launch_("clear_verdicts", drop_duplicates_cuda::clear_verdicts, context.stream, job);
      launch_("list_near", drop_duplicates_cuda::list_near, context.stream, job);
      launch_("mark_kept_earlier", drop_duplicates_cuda::mark_kept_earlier, context.stream, job);
    }
    selection_.run(context);
  }

 private:
  Nearness nearness_;
  DuplicateRule rule_;
  DeviceBins bins_;
  PointSelection selection_;
  ArrayLaunch launch_;
  unsigned room_for_lists_ = 0;
  Scratch verdicts_, next_chunk_, near_counts_, near_lists_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_duplicates_cuda(const ParamSet& params) {
  return std::make_unique<DropDuplicatesCuda>(params.as<DropDuplicatesParams>());
}

}  // namespace contorno
