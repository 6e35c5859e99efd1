// The declaration of track, and its implementation on the CPU.
#include <algorithm>
#include <utility>

#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_loop.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/track/rules.h"

namespace contorno {
namespace {

using namespace tracking;

/// What is seen of a contour, and of which object it is.
struct TrackedContour {
  Seen seen;
  std::uint32_t of_class = 0, object = kNone;
};

/// An object that may be seen again, in its list.
struct ListedObject {
  unsigned long long list = 0;
  std::uint32_t object = 0;
  bool operator<(const ListedObject& other) const { return list < other.list; }
};

/// One frame's work.
struct TrackedFrame {
  Limits limits;
  std::uint64_t number = 0;
  bool anew = false;
  StateView before, after;
  std::span<TrackedContour> contours;
  std::span<ListedObject> listed;
  unsigned levels = 0;         ///< a bit for each that has lists
  unsigned long long* offers;  ///< the best one that each object before has
};

Seen look_at(std::span<const Point> points, bool closed) {
  Seen seen{.box = {}, .row = measuring::kNaN, .col = measuring::kNaN};
  if (points.empty()) return seen;
  for (const Point& point : points) seen.box.add(point);
  FirstMoments area[kLanes], line[kLanes];
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Offset a(points[i - 1], points[0]), b(points[i], points[0]);
    add_triangle(area[(i - 1) % kLanes], a, b);
    add_segment(line[(i - 1) % kLanes], a, b);
  }
  set_centroid(seen, points[0], closed, sum_of_lanes(area), sum_of_lanes(line));
  return seen;
}

/// Lists the objects that may be seen again; `listed` has room for all.
void list_objects(TrackedFrame& frame, ListedObject* listed) {
  constexpr unsigned long long kNowhere = ~0ULL;
  ListedObject* end = listed;
  for (std::uint32_t i = 0; i < frame.before.header->objects; ++i) {
    const Object& object = frame.before.objects[i];
    frame.offers[i] = 0;
    const unsigned long long list = list_of(object, kNowhere);
    if (list == kNowhere || !is_awaited(object, frame.number, frame.anew, frame.limits)) continue;
    *end++ = {list, i};
    frame.levels |= 1U << row_lists::level_of(list);
  }
  std::sort(listed, end);
  frame.listed = {listed, end};
}

/// The best object for a contour that has no better offer.
Choice choose(const TrackedFrame& frame, std::uint32_t contour) {
  const TrackedContour& one = frame.contours[contour];
  const Rows rows = rows_sought(one.seen, frame.limits);
  Choice best;
  for (unsigned levels = frame.levels; levels != 0; levels &= levels - 1) {
    const row_lists::Lists lists(one.of_class, std::countr_zero(levels), rows.top, rows.bottom);
    auto place = std::lower_bound(frame.listed.begin(), frame.listed.end(), ListedObject{lists.first});
    for (; place != frame.listed.end() && place->list <= lists.last; ++place) {
      const Object& object = frame.before.objects[place->object];
      const Score score = score_of(object.seen, one.seen, frame.limits);
      if (score != 0 && offer_of(score, contour) > frame.offers[place->object])
        best.consider(score, place->object, object.id);
    }
  }
  return best;
}

/// Every contour makes its best object an offer; one whose offer is surpassed looks for another object.
void match(const TrackedFrame& frame) {
  if (frame.listed.empty()) return;
  for (std::uint32_t first = 0; first < frame.contours.size(); ++first)
    for (std::uint32_t contour = first;;) {
      const Choice best = choose(frame, contour);
      frame.contours[contour].object = best.object;
      if (best.object == kNone) break;
      const unsigned long long surpassed =
          std::exchange(frame.offers[best.object], offer_of(best.score, contour));
      if (surpassed == 0) break;
      contour = contour_of(surpassed);
    }
}

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
  for (std::uint32_t i = 0; i < frame.contours.size(); ++i) {
    const TrackedContour& one = frame.contours[i];
    const Object* const known = one.object != kNone ? &before.objects[one.object] : nullptr;
    if (known == nullptr) ++ids, ++after.counts[one.of_class].births;
    remember(object_of(out, i, one.of_class, one.seen, known, ids, frame.number));
  }
  for (std::uint64_t i = 0; i < before.header->objects; ++i) {
    const Object& object = before.objects[i];
    if (frame.offers[i] != 0) continue;
    if (stays(object, frame.number, frame.anew, frame.limits))
      remember(object);
    else
      ++after.counts[object.of_class].deaths;
  }
  *after.header = {.frame = frame.number, .ids = ids, .objects = objects, .begun = 1};
}

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
    const auto objects = static_cast<std::size_t>(params_.max_objects);
    classes_ = format.classes;
    state_ = context.state(state_bytes(classes_, params_.max_objects));
    contours_ = context.temporary(format.contour_capacity * sizeof(TrackedContour), MemoryKind::Host);
    listed_ = context.temporary(objects * sizeof(ListedObject), MemoryKind::Host);
    offers_ = context.temporary(objects * sizeof(unsigned long long), MemoryKind::Host);
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    // The state before is only read.
    auto* const before = const_cast<std::byte*>(context.state_before<std::byte>(state_));
    TrackedFrame frame{.limits = Limits(params_),
                       .number = *context.frame_number,
                       .before = state_view(before, classes_),
                       .after = state_view(context.state_after<std::byte>(state_), classes_),
                       .contours = {context.scratch<TrackedContour>(contours_), out.counts->contours},
                       .listed = {},
                       .offers = context.scratch<unsigned long long>(offers_)};
    frame.anew = begins_anew(*frame.before.header, frame.number);
    for (int k = 0; k < out.format.classes; ++k)
      for (std::uint32_t i = out.class_begin[k]; i < out.class_begin[k + 1]; ++i)
        frame.contours[i].of_class = static_cast<std::uint32_t>(k);
    for_contours(context.threads, out.counts->contours, [&](std::uint32_t contour) {
      sources[contour] = contour;
      frame.contours[contour].object = kNone;
      frame.contours[contour].seen = look_at(out.contour(contour), out.closed[contour] != 0);
    });
    list_objects(frame, context.scratch<ListedObject>(listed_));
    match(frame);
    write_objects(frame, out);
  }

  TrackParams params_;
  int classes_ = 0;
  State state_;
  Scratch contours_, listed_, offers_;
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
  return declare(list);
}

}  // namespace

const StageType& track_stage() {
  static const StageType type = contour_step({
    .name = "track", .summary = "Follows objects from frame to frame: the same one keeps its id.",
    .gives = "The same contours, with their id and age as attributes.", .params = track_params(),
    .example = "- type: track\n  max_missed: 10\n", .make_cpu = make_step<TrackCpu, TrackParams>,
#if CONTORNO_HAVE_CUDA
    .make_cuda = make_track_cuda,
#endif
  });
  return type;
}

}  // namespace contorno
