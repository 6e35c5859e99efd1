// What outputs.h does on the device.
#include "cuda/check.h"
#include "cuda/thrust.cuh"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/outputs.cuh"
#include "stages/contour_prep/shared/outputs.h"

namespace contorno {

// ContourOrder on the device.

void ContourOrder::plan(PlanContext& context, const ContoursFormat& format) {
  placement_.plan(context, format);
  launch_.plan(std::max(format.point_capacity, format.contour_capacity));
}

void ContourOrder::write_first(const RunContext& context, const unsigned* order, unsigned limit,
                               const unsigned* starts) const {
  const PlacementView placement = placement_.view(context, order);
  launch_.with_shared(sizeof(RangeShared), "measure_first", contour_order_cuda::measure_first, context.stream,
                      placement, limit);
  write(context, placement, starts);
}

void DeviceChoice::plan(PlanContext& context, const ContoursFormat& format) {
  chosen_ = context.temporary(format.contour_capacity, MemoryKind::Device);
  order_.plan(context, format);
  launch_.plan(format.contour_capacity);
}

void DeviceChoice::write(const RunContext& context) const {
  launch_.with_shared(sizeof(RangeShared), "measure_chosen", contour_order_cuda::measure_chosen,
                      context.stream, order_.view(context),
                      static_cast<const std::uint8_t*>(chosen(context)));
  order_.write(context);
}

void ContourOrder::write(const RunContext& context, const PlacementView& placement,
                         const unsigned* starts) const {
  launch_.with_shared(sizeof(RangeShared), "write_whole", contour_order_cuda::write_whole, context.stream,
                      placement, starts);
}

// DeviceSelection on the device.

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

// DeviceNewPoints on the device.

void DeviceNewPoints::plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                           const char* name) {
  plan_counts(context, in, out, name, MemoryKind::Device, MemoryKind::Pinned);
  words_ = in.contour_capacity + 1;
  sum_.plan(context, words_);
}

void DeviceNewPoints::clear(const RunContext& context) const {
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(counts(context), 0, words_ * sizeof(std::uint64_t),
                                      static_cast<cudaStream_t>(context.stream)));
}

void DeviceNewPoints::place(const RunContext& context) const {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  sum_.run(context, reinterpret_cast<unsigned long long*>(counts(context)));
  const PlaceNewPoints placed = this->placed(context);
  for_each_number("place_points", context.stream,
                  places_of(placed.in, static_cast<unsigned>(placed.in.format.contour_capacity)), placed);
}

}  // namespace contorno
