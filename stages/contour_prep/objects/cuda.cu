// objects on the device.
#include <optional>

#include "cuda/thrust.cuh"
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/objects/kernels.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"
#include "stages/contour_prep/track/tracker.h"

namespace contorno {
namespace {

class ObjectsCuda final : public AttributeStep {
 public:
  explicit ObjectsCuda(const ObjectsParams& params)
      : AttributeStep(Backend::Cuda, kObjectsAttributes), params_(params), tracker_(params) {}

  std::span<const TrackCounts> track_counts(const RunContext& context) const override {
    return tracker_.counts(context);
  }
  const ObjectsRule* objects() const override { return &*rule_; }
  std::uint64_t overflow(const RunContext& context) const override {
    nest_.check(context);
    return 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    rule_ = objects_rule(params_, context.classes(), format.classes);
    tracker_.plan(context, format, params_.holes ? static_cast<int>(rule_->of_class) : -1);
    nest_.plan(context, format);
    arrays_.plan(context, MemoryKind::Device, format, objects::Work(params_, *rule_));
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    tracker_.run(context, out, sources);
    objects::Work work = arrays_.of(context, objects::Work(params_, *rule_));
    work.out = out;
    launch_("begin_objects", objects_cuda::begin_objects, context.stream, work);
    nest_.run(context, out, sources, work.parents,
              {.of_class = static_cast<int>(rule_->of_class),
               .only = out.column(Attribute::Object),
               .reach = params_.reach});
    for_each_number("end_objects", context.stream, out.format.contour_capacity,
                    objects_cuda::EndObjects{work});
  }

  ObjectsParams params_;
  std::optional<ObjectsRule> rule_;
  DeviceTracker tracker_;
  DeviceNest nest_;
  ArrayLaunch launch_;
  PlannedArrays arrays_;
};

}  // namespace

std::unique_ptr<Stage> make_objects_cuda(const ParamSet& params) {
  return std::make_unique<ObjectsCuda>(params.as<ObjectsParams>());
}

}  // namespace contorno
