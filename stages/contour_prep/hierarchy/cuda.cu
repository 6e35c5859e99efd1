// hierarchy on the device.
#include "stages/contour_prep/hierarchy/kernels.cuh"
#include "stages/contour_prep/hierarchy/nests.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/contour_step.h"
#include "stages/contour_prep/shared/on_device.cuh"

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
                     unsigned* parents, const nesting::NestRule& rule) const {
  auto job = arrays_.of(context, hierarchy_cuda::Job{});
  job.out = contours, job.none = none_, job.contours = numbers, job.parents = parents;
  job.rule = rule;
  job.too_many = context.scratch<unsigned>(too_many_);
  launch_("measure_boxes", hierarchy_cuda::measure_boxes, context.stream, job);
  sort_.run(context, {job.keys, job.sorted_keys, job.contours, job.sorted});
  launch_("find_parents", hierarchy_cuda::find_parents, context.stream, job);
}

std::unique_ptr<Stage> make_hierarchy_cuda(const ParamSet& params) {
  return make_step<Hierarchy<OnDevice, DeviceNest>, NoParams>(params);
}

}  // namespace contorno
