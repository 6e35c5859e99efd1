// The declaration of track, and its implementation on the CPU.
#include <algorithm>

#include "geometry/contour_loop.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/track/pairing.h"
#include "stages/contour_prep/track/tracker.h"

namespace contorno {
namespace {

using namespace tracking;

/// One frame's work.
struct TrackedFrame {
  Limits limits;
  std::uint64_t number = 0;
  bool anew = false;
  StateView before, after;
  PairingWork work;
};

/// Writes the attributes and the state behind the frame: the contours, then what was not seen.
void write_objects(const TrackedFrame& frame, const ContoursView& out) {
  const StateView &before = frame.before, &after = frame.after;
  std::copy_n(before.counts, before.classes, after.counts);
  std::uint64_t ids = before.header->ids, objects = 0;
  const auto remember = [&](const Object& object) {
    if (objects < frame.limits.max_objects)
      after.objects[objects++] = object;
    else
      ++after.counts[object.of_class].forgotten;
  };
  for (std::uint32_t i = 0; i < frame.work.contours.size(); ++i) {
    const TrackedContour& one = frame.work.contours[i];
    if (one.object == kHole) {
      write_hole(out, i);
      continue;
    }
    const Object* const known = one.object != kNone ? &before.objects[one.object] : nullptr;
    if (known == nullptr) ++ids, ++after.counts[one.of_class].births;
    remember(object_of(out, i, one.of_class, one.seen, known, ids, frame.number));
  }
  for (std::uint64_t i = 0; i < before.header->objects; ++i) {
    const Object& object = before.objects[i];
    if (frame.work.contours_before[i] != kNone) continue;
    if (stays(object, frame.number, frame.anew, frame.limits))
      remember(object);
    else
      ++after.counts[object.of_class].deaths;
  }
  *after.header = {.frame = frame.number, .ids = ids, .objects = objects, .begun = 1};
}

struct TrackArrays {
  std::size_t contours = 0, objects = 0;  ///< that there is room for
  PairingWork work;

  void arrays(ArrayTaker& take, const ContoursFormat& format) {
    const auto take_tree = [&](SeenTree::Memory& tree, std::size_t room) {
      take(tree.items, room), take(tree.nodes, room), take(tree.places, room);
      take(tree.roots, classes_of_state(format.classes));
    };
    take(work.contours, contours), take(work.contours_before, objects);
    take_tree(work.tree_of_contours, contours), take_tree(work.tree_of_objects, objects);
  }
};

TrackArrays arrays_for(const ContoursFormat& format, const Limits& limits) {
  return {.contours = format.contour_capacity, .objects = limits.max_objects, .work = {}};
}

class TrackCpu final : public AttributeStep {
 public:
  explicit TrackCpu(const TrackParams& params)
      : AttributeStep(Backend::Cpu, kTrackAttributes), tracker_(params) {}

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

  HostTracker tracker_;
};

ParamDeclaration track_params() {
  ParamList<TrackParams> list;
  add_track_params(list);
  return declare(list);
}

}  // namespace

void HostTracker::plan(PlanContext& context, const ContoursFormat& format, int class_of_holes) {
  limits_.class_of_holes = class_of_holes;
  classes_ = format.classes;
  state_ = context.state(state_bytes(classes_, static_cast<int>(limits_.max_objects)));
  arrays_.plan(context, MemoryKind::Host, format, arrays_for(format, limits_));
}

std::span<const TrackCounts> HostTracker::counts(const RunContext& context) const {
  return {state_view(context.state_after<std::byte>(state_), classes_).counts,
          static_cast<std::size_t>(classes_)};
}

void HostTracker::run(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const {
  // The state before is only read.
  auto* const state = const_cast<std::byte*>(context.state_before<std::byte>(state_));
  const StateView before = state_view(state, classes_);
  const std::uint64_t objects = before.header->objects;
  TrackedFrame frame{.limits = limits_,
                     .number = *context.frame_number,
                     .anew = begins_anew(*before.header, *context.frame_number),
                     .before = before,
                     .after = state_view(context.state_after<std::byte>(state_), classes_),
                     .work = arrays_.of(context, arrays_for(out.format, limits_)).work};
  frame.work.contours = frame.work.contours.first(out.counts->contours);
  frame.work.objects = {before.objects, objects};
  frame.work.contours_before = frame.work.contours_before.first(objects);
  for (int k = 0; k < out.format.classes; ++k)
    for (std::uint32_t i = out.class_begin[k]; i < out.class_begin[k + 1]; ++i)
      frame.work.contours[i].of_class = static_cast<std::uint32_t>(k);
  for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
    sources[contour] = contour;
    TrackedContour& one = frame.work.contours[contour];
    bool hole = false;
    one.seen = look_at(OneThread{}, out, contour, limits_.has_positive_holes(one.of_class), hole);
    one.object = hole ? kHole : kNone;
  });
  pair_contours(frame.work, frame.limits, frame.number, frame.anew);
  write_objects(frame, out);
}

const StageType& track_stage() {
  static const StageType type = contour_step({
      .name = "track",
      .summary = "Follows objects from frame to frame: the same one keeps its id.",
      .gives = "The same contours, with their id and age as attributes.",
      .params = track_params(),
      .example = "- type: track\n  max_missed: 10\n",
      .make_cpu = make_step<TrackCpu, TrackParams>,
      .make_cuda = on_cuda<make_track_cuda>(),
  });
  return type;
}

}  // namespace contorno
