// track on the device.
#include "cuda/stream.h"
#include "cuda/thrust.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/track/kernels.cuh"
#include "stages/contour_prep/track/tracker.h"

namespace contorno {

void DeviceTracker::plan(PlanContext& context, const ContoursFormat& format, int class_of_holes) {
  limits_.class_of_holes = class_of_holes;
  classes_ = format.classes;
  state_ = context.state(tracking::state_bytes(classes_, static_cast<int>(limits_.max_objects)));
  counts_ = context.scratch(static_cast<std::size_t>(classes_) * sizeof(TrackCounts), MemoryKind::Pinned);
  // One bit more than lists have, for what is in none.
  const int bits = row_lists::list_bits(classes_) + 1;
  none_ = (1ULL << bits) - 1;
  sort_.plan(context, limits_.max_objects, bits);
  arrays_.plan(context, MemoryKind::Device, format, track_cuda::Job{.limits = limits_});
  launch_.plan();
}

std::span<const TrackCounts> DeviceTracker::counts(const RunContext& context) const {
  return {context.scratch<TrackCounts>(counts_), static_cast<std::size_t>(classes_)};
}

void DeviceTracker::run(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const {
  // The state before is only read.
  auto* const before = const_cast<std::byte*>(context.state_before<std::byte>(state_));
  auto job = arrays_.of(context, track_cuda::Job{.limits = limits_});
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

namespace {

class TrackCuda final : public AttributeStep {
 public:
  explicit TrackCuda(const TrackParams& params)
      : AttributeStep(Backend::Cuda, kTrackAttributes), tracker_(params) {}

  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    return tracker_.counts(context);
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    tracker_.plan(context, format);
  }
  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    tracker_.run(context, out, sources);
  }

  DeviceTracker tracker_;
};

}  // namespace

std::unique_ptr<Stage> make_track_cuda(const ParamSet& params) {
  return std::make_unique<TrackCuda>(params.as<TrackParams>());
}

}  // namespace contorno
