// The declaration of objects, and its implementation on the CPU.
#include <optional>

#include "geometry/contour_loop.h"
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/objects/stage.h"
#include "stages/contour_prep/shared/arrays.h"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/track/tracker.h"

namespace contorno {
namespace {

class ObjectsCpu final : public AttributeStep {
 public:
  explicit ObjectsCpu(const ObjectsParams& params)
      : AttributeStep(Backend::Cpu, kObjectsAttributes), params_(params), tracker_(params) {}

  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    return tracker_.counts(context);
  }
  const ObjectsRule* objects() const override { return &*rule_; }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    rule_ = objects_rule(params_, context.classes(), format.classes);
    tracker_.plan(context, format, params_.holes ? static_cast<int>(rule_->of_class) : -1);
    nest_.plan(context, format);
    arrays_.plan(context, MemoryKind::Host, format, objects::Work(params_, *rule_));
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    tracker_.run(context, out, sources);
    objects::Work work = arrays_.of(context, objects::Work(params_, *rule_));
    work.out = out;
    for_all(context.threads, out, [&](std::uint32_t contour, unsigned of_class) {
      objects::begin(OneThread{}, work, contour, of_class);
    });
    nest_.run(context, out, sources, work.parents,
              {.of_class = static_cast<int>(rule_->of_class),
               .only = out.column(Attribute::Object),
               .reach = params_.reach});
    for_all(context.threads, out,
            [&](std::uint32_t contour, unsigned of_class) { objects::end(work, contour, of_class); });
  }

  /// Calls use(contour, its class) for each contour, in parallel.
  template <class Use>
  static void for_all(int threads, const ContoursView& contours, const Use& use) {
    for (int k = 0; k < contours.format.classes; ++k) {
      const std::uint32_t first = contours.class_begin[k];
      for_contours(threads, contours.class_begin[k + 1] - first,
                   [&](std::uint32_t i) { use(first + i, static_cast<unsigned>(k)); });
    }
  }

  ObjectsParams params_;
  std::optional<ObjectsRule> rule_;
  HostTracker tracker_;
  HostNest nest_;
  PlannedArrays arrays_;
};

ParamDeclaration objects_params() {
  ParamList<ObjectsParams> list;
  list.text("of", &ObjectsParams::of,
            "Name of the class whose outer contours are objects (its number from 0 where classes have no "
            "names); empty: the first one that is not hidden.");
  list.flag("holes", &ObjectsParams::holes,
            "Whether the holes of that class are objects instead, as fruit are holes of the background.");
  list.number("min_area", &ObjectsParams::min_area, 0, 1e9, Unit::None,
              "What encloses less is no object, in px^2 of the map.");
  list.number("reach", &ObjectsParams::reach, 0, 1e6, Unit::Pixels,
              "A contour that lies in no object belongs to one whose box, so much larger on each side, has "
              "the middle of the contour's box.");
  list.text("called", &ObjectsParams::called, "What an object is called in results; empty: as its class.");
  list.text("defects", &ObjectsParams::defects,
            "Names of the classes that are counted when they are over the threshold, separated by commas; "
            "empty: all that are not hidden, but for the objects' own.");
  list.number("threshold", &ObjectsParams::threshold, 0, 1, Unit::Fraction,
              "Objects of which the largest share of a defect is over this are counted.");
  list.number("margin", &ObjectsParams::margin, 0, 1e6, Unit::Pixels,
              "A view of which the outline comes nearer to the border of the map than this has no shares.");
  list.integer("max_views", &ObjectsParams::max_views, 2, 65536, Unit::None,
               "Views of which the medians of an object are, at most; of more, every second, every fourth "
               "and so on.");
  add_track_params(list);
  return declare(list);
}

}  // namespace

const StageType& objects_stage() {
  static const StageType type = [] {
    StageType one = contour_step({
        .name = "objects",
        .summary = "Follows objects, finds what lies on each, and makes a record of those that have left.",
        .gives = "The same contours, with their id and age, and the object and their share of it.",
        .params = objects_params(),
        .example = "- type: objects\n  threshold: 0.05\n",
        .make_cpu = make_step<ObjectsCpu, ObjectsParams>,
        .make_cuda = on_cuda<make_objects_cuda>(),
    });
    one.makes_objects = true;
    return one;
  }();
  return type;
}

}  // namespace contorno
