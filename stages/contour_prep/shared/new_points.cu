// DeviceNewPoints on the device.
#include "stages/contour_prep/shared/new_points.cuh"

#include "cuda/check.h"
#include "stages/contour_prep/shared/array_launch.cuh"
#include "stages/contour_prep/shared/new_points.h"

namespace contorno {

void DeviceNewPoints::plan(PlanContext& context, const ContoursFormat& in, const ContoursFormat& out,
                           const char* name) {
  plan_counts(context, in, out, name, MemoryKind::Device, MemoryKind::Pinned);
  words_ = in.contour_capacity + 1;
  sum_.plan(context, words_);
  launch_.plan(words_);
}

void DeviceNewPoints::clear(const RunContext& context) const {
  CONTORNO_CUDA_CHECK(cudaMemsetAsync(counts(context), 0, words_ * sizeof(std::uint64_t),
                                      static_cast<cudaStream_t>(context.stream)));
}

void DeviceNewPoints::place(const RunContext& context) const {
  static_assert(sizeof(unsigned long long) == sizeof(std::uint64_t));
  sum_.run(context, reinterpret_cast<unsigned long long*>(counts(context)));
  launch_("place_points", new_points_cuda::place_points, context.stream,
          std::get<ContoursView>(context.inputs[0]), std::get<ContoursView>(context.outputs[0]),
          static_cast<const std::uint64_t*>(counts(context)), context.scratch<std::uint64_t>(needed_));
}

}  // namespace contorno
