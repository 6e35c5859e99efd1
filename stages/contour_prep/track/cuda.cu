// track on the device.
#include "cuda/stream.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/pair_sort.h"
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
    const std::size_t contours = format.contour_capacity;
    const auto objects = static_cast<std::size_t>(params_.max_objects);
    classes_ = format.classes;
    state_ = context.state(tracking::state_bytes(classes_, params_.max_objects));
    counts_ = context.scratch(static_cast<std::size_t>(classes_) * sizeof(TrackCounts), MemoryKind::Pinned);
    // One bit more than lists have, for what is in none.
    const int bits = row_lists::list_bits(classes_) + 1;
    none_ = (1ULL << bits) - 1;
    sort_.plan(context, objects, bits);
    seen_ = context.temporary(contours * sizeof(tracking::Seen), MemoryKind::Device);
    for (Scratch* one : {&choices_, &scores_})
      *one = context.temporary(contours * sizeof(unsigned), MemoryKind::Device);
    for (Scratch* one : {&keys_, &sorted_keys_, &offers_})
      *one = context.temporary(objects * sizeof(unsigned long long), MemoryKind::Device);
    for (Scratch* one : {&objects_, &sorted_})
      *one = context.temporary(objects * sizeof(unsigned), MemoryKind::Device);
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    // The state before is only read.
    auto* const before = const_cast<std::byte*>(context.state_before<std::byte>(state_));
    const track_cuda::Job job{.out = out,
                              .limits = tracking::Limits(params_),
                              .number = context.frame_number,
                              .before = tracking::state_view(before, classes_),
                              .after = tracking::state_view(context.state_after<std::byte>(state_), classes_),
                              .sources = sources,
                              .seen = context.scratch<tracking::Seen>(seen_),
                              .choices = context.scratch<unsigned>(choices_),
                              .scores = context.scratch<tracking::Score>(scores_),
                              .none = none_,
                              .keys = context.scratch<unsigned long long>(keys_),
                              .sorted_keys = context.scratch<unsigned long long>(sorted_keys_),
                              .objects = context.scratch<unsigned>(objects_),
                              .sorted = context.scratch<unsigned>(sorted_),
                              .offers = context.scratch<unsigned long long>(offers_)};
    launch_("list_objects", track_cuda::list_objects, context.stream, job);
    sort_.run(context, job.keys, job.sorted_keys, job.objects, job.sorted);
    launch_("look", track_cuda::look, context.stream, job);
    launch("settle", track_cuda::settle, LaunchKind::Plain, LaunchOrder::AfterPrevious, 1,
           track_cuda::kSettleThreads, sizeof(track_cuda::SettleShared), context.stream, job);
    copy_async(context.scratch<TrackCounts>(counts_), job.after.counts,
               static_cast<std::size_t>(classes_) * sizeof(TrackCounts), context.stream);
  }

  TrackParams params_;
  int classes_ = 0;
  unsigned long long none_ = 0;
  State state_;
  ArrayLaunch launch_;
  PairSort<unsigned long long> sort_;
  Scratch counts_, seen_, choices_, scores_, keys_, sorted_keys_, objects_, sorted_, offers_;
};

}  // namespace

std::unique_ptr<Stage> make_track_cuda(const ParamSet& params) {
  return std::make_unique<TrackCuda>(params.as<TrackParams>());
}

}  // namespace contorno
