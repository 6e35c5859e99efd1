#include <algorithm>

#include "stages/degrade/kernels.cuh"

namespace contorno {

void place_points_on_device(const ContoursView& contours, const PointsPlacement& placement, void* stream) {
  using degrade_cuda::kThreads;
  constexpr std::uint64_t kMostBlocks = 1024;
  const std::uint64_t blocks = (contours.format.point_capacity + kThreads - 1) / kThreads;
  launch("place_points", degrade_cuda::place_points, LaunchKind::Plain, LaunchOrder::AfterPrevious,
         static_cast<unsigned>(std::clamp<std::uint64_t>(blocks, 1, kMostBlocks)), kThreads, 0, stream,
         contours, placement);
}

}  // namespace contorno
