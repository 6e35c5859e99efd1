// track on the device.
#include "cuda/stream.h"
#include "cuda/thrust.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/sorts_and_sums.h"
#include "stages/contour_prep/track/kernels.cuh"

namespace contorno {
namespace {

class TrackCuda final : public AttributeStep {
 public:
  explicit TrackCuda(const TrackParams& params)
      : AttributeStep(Backend::Cuda, kTrackAttributes), params_(params) {}

  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    return {context.scratch<TrackCounts>(counts_), static_cast<std::size_t>(classes_)};
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    const auto objects = static_cast<std::size_t>(params_.max_objects);
    classes_ = format.classes;
    state_ = context.state(tracking::state_bytes(classes_, params_.max_objects));
    counts_ = context.scratch(static_cast<std::size_t>(classes_) * sizeof(TrackCounts), MemoryKind::Pinned);
    // One bit more than lists have, for what is in none.
    const int bits = row_lists::list_bits(classes_) + 1;
    none_ = (1ULL << bits) - 1;
    sort_.plan(context, objects, bits);
    arrays_.plan(context, MemoryKind::Device, format, job());
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    // The state before is only read.
    auto* const before = const_cast<std::byte*>(context.state_before<std::byte>(state_));
    auto job = arrays_.of(context, this->job());
    job.out = out, job.number = context.frame_number, job.sources = sources, job.none = none_;
    job.before = tracking::state_view(before, classes_);
    job.after = tracking::state_view(context.state_after<std::byte>(state_), classes_);
    for_each_number("list_objects", context.stream, job.limits.max_objects, track_cuda::ListObjects{job});
    sort_.run(context, {job.keys, job.sorted_keys, job.objects, job.sorted});
    launch_("look", track_cuda::look, context.stream, job);
    launch("settle", track_cuda::settle, LaunchKind::Plain, LaunchOrder::AfterPrevious, 1,
           track_cuda::kSettleThreads, sizeof(track_cuda::SettleShared), context.stream, job);
    copy_async(context.scratch<TrackCounts>(counts_), job.after.counts,
               static_cast<std::size_t>(classes_) * sizeof(TrackCounts), context.stream);
  }

  track_cuda::Job job() const { return {.limits = tracking::Limits(params_)}; }

  TrackParams params_;
  int classes_ = 0;
  unsigned long long none_ = 0;
  State state_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_;
  PlannedArrays arrays_;
  Scratch counts_;
};

}  // namespace

std::unique_ptr<Stage> make_track_cuda(const ParamSet& params) {
  return std::make_unique<TrackCuda>(params.as<TrackParams>());
}

}  // namespace contorno
