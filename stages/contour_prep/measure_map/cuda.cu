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
    const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
    parents_ = take(format.contour_capacity * sizeof(unsigned));
    has_region_ = take(format.contour_capacity);
    count_ = take(sizeof(unsigned long long));
    keys_ = take(room_ * sizeof(unsigned long long));
    sorted_ = take(room_ * sizeof(unsigned long long));
    spans_ = take(room_ / 2 * sizeof(map_measuring::SampleSums));
    needed_ = context.scratch(sizeof(unsigned long long), MemoryKind::Pinned);
    launch_.plan();
  }

  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    nest_.run(context, out, sources, context.scratch<unsigned>(parents_));
    const measure_map_cuda::Job job{.out = out,
                                    .planes = map_measuring::MapPlanes(context.image_in(1)),
                                    .form = form_,
                                    .parents = context.scratch<unsigned>(parents_),
                                    .has_region = context.scratch<unsigned char>(has_region_),
                                    .room = room_,
                                    .none = none_,
                                    .count = context.scratch<unsigned long long>(count_),
                                    .keys = context.scratch<unsigned long long>(keys_),
                                    .sorted = context.scratch<unsigned long long>(sorted_),
                                    .spans = context.scratch<map_measuring::SampleSums>(spans_),
                                    .needed = context.scratch<unsigned long long>(needed_)};
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
  Scratch parents_, has_region_, count_, keys_, sorted_, spans_, needed_;
};

}  // namespace

std::unique_ptr<Stage> make_measure_map_cuda(const ParamSet&) {
  return std::make_unique<MeasureMapCuda>();
}

}  // namespace contorno
