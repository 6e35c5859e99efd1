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
      using namespace drop_duplicates_cuda;
      const auto take = [&](std::size_t count) {
        return context.temporary(count * sizeof(unsigned), MemoryKind::Device);
      };
      chunks_ = (format.point_capacity + kChunk - 1) / kChunk;
      room_for_lists_ = static_cast<unsigned>(std::min<std::uint64_t>(format.point_capacity, kMostListed));
      zeroed_ = take(zeroed_count());
      near_lists_ = take(std::size_t{kMostNear} * room_for_lists_);
    }
    launch_.plan(format.point_capacity);
    launch_wide_.plan();
    context.set_output(0, format);
  }

  void run(const RunContext& context) const override {
    const auto& in = std::get<ContoursView>(context.inputs[0]);
    drop_duplicates_cuda::Job job{
        .in = in, .bins = bins_.view(context, nearness_), .keep = selection_.keep(context)};
    if (rule_ == DuplicateRule::AnyEarlier) {
      bins_.run(context, in, nearness_, {});
      launch_("mark_any_earlier", drop_duplicates_cuda::mark_any_earlier, context.stream, job);
    } else {
      auto* const zeroed = context.scratch<unsigned>(zeroed_);
      job.verdicts = reinterpret_cast<unsigned long long*>(zeroed);
      job.near_counts = zeroed + 2 * chunks_;
      job.next_chunk = job.near_counts + room_for_lists_;
      job.near_lists = context.scratch<unsigned>(near_lists_);
      job.room_for_lists = room_for_lists_;
      bins_.run(context, in, nearness_, {zeroed, zeroed_count()});
      launch_wide_("list_near", drop_duplicates_cuda::list_near, context.stream, job);
      launch_.with_shared(sizeof(drop_duplicates_cuda::MarkShared), "mark_kept_earlier",
                          drop_duplicates_cuda::mark_kept_earlier, context.stream, job);
    }
    selection_.run(context);
  }

 private:
  /// Words of the verdicts, of the counts of lists, and of the next chunk.
  std::size_t zeroed_count() const { return 2 * chunks_ + room_for_lists_ + 1; }

  Nearness nearness_;
  DuplicateRule rule_;
  DeviceBins bins_;
  DeviceSelection selection_;
  ArrayLaunch launch_;
  ArrayLaunch launch_wide_;  ///< of several threads a point
  std::size_t chunks_ = 0;
  unsigned room_for_lists_ = 0;
  Scratch zeroed_, near_lists_;
};

}  // namespace

std::unique_ptr<Stage> make_drop_duplicates_cuda(const ParamSet& params) {
  return std::make_unique<DropDuplicatesCuda>(params.as<DropDuplicatesParams>());
}

}  // namespace contorno
