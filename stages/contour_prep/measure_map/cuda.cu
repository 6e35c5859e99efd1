// measure_map on the device.
#include "stages/contour_prep/hierarchy/device_nest.h"
#include "stages/contour_prep/measure_map/kernels.cuh"
#include "stages/contour_prep/measure_map/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {
namespace {

class MeasureMapCuda final : public AttributeStep {
 public:
  MeasureMapCuda() : AttributeStep(Backend::Cuda, kMapAttributes) {}

  std::uint64_t overflow(const RunContext& context) const override {
    nest_.check(context);
    const std::uint64_t needed = *context.scratch<unsigned long long>(needed_);
    return needed > room_ ? needed : 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    map_measuring::check_map(format, context.image(1));
    room_ = map_measuring::room_for_crossings(context, format);
    form_ = {format.width, format.height};
    nest_.plan(context, format);
    sort_.plan(context, room_, form_.bits(format.contour_capacity));
    none_ = form_.first(format.contour_capacity);
    arrays_.plan(context, MemoryKind::Device, format, measure_map_cuda::Job{.room = room_});
    needed_ = context.scratch(sizeof(unsigned long long), MemoryKind::Pinned);
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    auto job = arrays_.of(context, measure_map_cuda::Job{.room = room_});
    job.out = out, job.planes = map_measuring::MapPlanes(context.image_in(1));
    job.form = form_, job.none = none_, job.needed = context.scratch<unsigned long long>(needed_);
    nest_.run(context, out, sources, job.parents);
    launch_("begin_crossings", measure_map_cuda::begin_crossings, context.stream, job);
    launch_("write_crossings", measure_map_cuda::write_crossings, context.stream, job);
    sort_.run(context, job.keys, job.sorted);
    with_sample_type(context.image_in(1).format.type, [&]<class T>(const T*) {
      launch_("measure_spans", measure_map_cuda::measure_spans<T>, context.stream, job);
    });
    launch_("measure_regions", measure_map_cuda::measure_regions, context.stream, job);
  }

  map_measuring::CrossingKeys form_;
  std::uint64_t room_ = 0;
  unsigned long long none_ = 0;
  ArrayLaunch launch_;
  DeviceNest nest_;
  KeySort sort_;
  PlannedArrays arrays_;
  Scratch needed_;
};

}  // namespace

std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet&) {
  return std::make_unique<MeasureMapCuda>();
}

}  // namespace contorno
