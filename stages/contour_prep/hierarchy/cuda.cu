// hierarchy on the device.
#include "stages/contour_prep/hierarchy/device_nest.h"
#include "stages/contour_prep/hierarchy/kernels.cuh"
#include "stages/contour_prep/hierarchy/stage.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/attribute_step.h"

namespace contorno {

void DeviceNest::plan(PlanContext& context, const ContoursFormat& format) {
  // One bit more than lists have, for what is in none.
  const int bits = row_lists::list_bits(format.classes) + 1;
  none_ = (1ULL << bits) - 1;
  sort_.plan(context, format.contour_capacity, bits);
  arrays_.plan(context, MemoryKind::Device, format, hierarchy_cuda::Job{});
  too_many_ = context.scratch(sizeof(unsigned), MemoryKind::Pinned);
  launch_.plan();
}

void DeviceNest::check(const RunContext& context) const {
  if (*context.scratch<unsigned>(too_many_) != 0) nesting::throw_too_many();
}

void DeviceNest::run(const RunContext& context, const ContoursView& contours, unsigned* numbers,
                     unsigned* parents) const {
  auto job = arrays_.of(context, hierarchy_cuda::Job{});
  job.out = contours, job.none = none_, job.contours = numbers, job.parents = parents;
  job.too_many = context.scratch<unsigned>(too_many_);
  launch_("measure_boxes", hierarchy_cuda::measure_boxes, context.stream, job);
  sort_.run(context, {job.keys, job.sorted_keys, job.contours, job.sorted});
  launch_("find_parents", hierarchy_cuda::find_parents, context.stream, job);
}

namespace {

class HierarchyCuda final : public AttributeStep {
 public:
  HierarchyCuda() : AttributeStep(Backend::Cuda, kHierarchyAttributes) {}

  std::uint64_t overflow(const RunContext& context) const override {
    nest_.check(context);
    return 0;
  }

 private:
  void plan_computing(PlanContext& context, const ContoursFormat& format) override {
    nest_.plan(context, format);
  }
  void compute(const RunContext& context, const ContoursView& out, std::uint32_t* sources) const override {
    nest_.run(context, out, sources);
  }

  DeviceNest nest_;
};

}  // namespace

std::unique_ptr<Stage> make_hierarchy_cuda(const ParamSet&) {
  return std::make_unique<HierarchyCuda>();
}

}  // namespace contorno
