// The contour engine's kernels and launches for float64 points (find_contours).
#include "stages/contours/cuda/launch.cuh"

namespace contorno::contour_engine {

using Point = Point64;

std::size_t workspace_bytes64(const ContourEngineSpec& spec) {
  return workspace_bytes<Point>(spec);
}
ContourEngineDevice allow_kernels64(const ContourEngineSpec& spec) {
  return allow_kernels<Point>(spec);
}
void clear_workspace64(const ContourEngineSpec& spec, void* workspace, void* stream) {
  clear_workspace<Point>(spec, workspace, stream);
}
void enqueue64(const ContourEngineSpec& spec, const ContourEngineDevice& device,
               const Frame<ContoursView64>& frame, void* stream) {
  enqueue_frame<Point>(spec, device, frame, stream);
}

}  // namespace contorno::contour_engine
