// The declaration of track, and its implementation on the CPU.
#include <algorithm>

#include "geometry/contour_loop.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/track/pairing.h"
#include "stages/contour_prep/track/stage.h"

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

class TrackCpu final : public AttributeStep {
 public:
  explicit TrackCpu(const TrackParams& params)
      : AttributeStep(Backend::Cpu, kTrackAttributes), params_(params) {}

  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    return {state_view(context.state_after<std::byte>(state_), classes_).counts,
            static_cast<std::size_t>(classes_)};
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    classes_ = format.classes;
    state_ = context.state(state_bytes(classes_, params_.max_objects));
    arrays_.plan(context, MemoryKind::Host, format, arrays_of(format));
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    // The state before is only read.
    auto* const state = const_cast<std::byte*>(context.state_before<std::byte>(state_));
    const StateView before = state_view(state, classes_);
    const std::uint64_t objects = before.header->objects;
    TrackedFrame frame{.limits = Limits(params_),
                       .number = *context.frame_number,
                       .anew = begins_anew(*before.header, *context.frame_number),
                       .before = before,
                       .after = state_view(context.state_after<std::byte>(state_), classes_),
                       .work = arrays_.of(context, arrays_of(out.format)).work};
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
      one.seen = look_at(OneThread{}, out, contour, frame.limits, hole);
      one.object = hole ? kHole : kNone;
    });
    pair_contours(frame.work, frame.limits, frame.number, frame.anew);
    write_objects(frame, out);
  }

  TrackArrays arrays_of(const ContoursFormat& format) const {
    return {.contours = format.contour_capacity, .objects = static_cast<std::size_t>(params_.max_objects)};
  }

  TrackParams params_;
  int classes_ = 0;
  State state_;
  PlannedArrays arrays_;
};

ParamDeclaration track_params() {
  ParamList<TrackParams> list;
  list.number("min_overlap", &TrackParams::min_overlap, 0, 1, Unit::Fraction,
              "Boxes of the same object overlap by at least this part of what they cover together.");
  list.number("max_distance", &TrackParams::max_distance, 0, 1e9, Unit::Pixels,
              "Centroids of the same object are at most this far apart where boxes do not overlap so much.");
  list.integer(
      "max_missed", &TrackParams::max_missed, 0, 1'000'000'000, Unit::Frames,
      "An object that is out of sight for more frames than this is dead; frames that were dropped count.");
  list.integer("max_objects", &TrackParams::max_objects, 1, 65536, Unit::None,
               "Objects that are known at a time; of more, the last contours are forgotten.");
  list.choice("positive_orientation", &TrackParams::positive_orientation,
              {{"low", Orientation::Low}, {"high", Orientation::High}},
              "What contours run around counter-clockwise, as contour_assembly was told: regions that are "
              "low, or high. It tells holes, which are no objects.");
  return declare(list);
}

}  // namespace

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
