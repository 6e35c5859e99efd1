// DeviceSelection on the device.
#include "stages/contour_prep/shared/point_selection.cuh"

#include "stages/contour_prep/shared/array_launch.cuh"

namespace contorno {

void DeviceSelection::plan(PlanContext& context, const ContoursFormat& format) {
  const std::size_t chunks = format.point_capacity / 32 + 1;
  const auto take = [&](std::size_t bytes) { return context.temporary(bytes, MemoryKind::Device); };
  keep_ = take(format.point_capacity);
  kept_ = take(chunks * sizeof(unsigned));
  before_.plan(context, chunks);
  placement_.plan(context, format);
  launch_.plan(std::max(format.point_capacity, format.contour_capacity));
}

void DeviceSelection::run(const RunContext& context) const {
  const point_selection_cuda::Job job{.placement = placement_.view(context),
                                      .keep = keep(context),
                                      .kept = context.scratch<unsigned>(kept_),
                                      .before = before_.view(context)};
  const auto start = [&](const char* name, auto* kernel) {
    launch_.with_shared(sizeof(point_selection_cuda::Shared), name, kernel, context.stream, job);
  };
  start("count_kept", point_selection_cuda::count_kept);
  start("measure_kept", point_selection_cuda::measure_kept);
  start("write_kept", point_selection_cuda::write_kept);
}

}  // namespace contorno
