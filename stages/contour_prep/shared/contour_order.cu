// ContourOrder on the device.
#include "stages/contour_prep/shared/contour_order.cuh"

#include "stages/contour_prep/shared/array_launch.cuh"

namespace contorno {

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

}  // namespace contorno
