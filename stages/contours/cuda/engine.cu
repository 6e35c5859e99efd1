// The contour engine's kernels and launches for float32 points, and the class around them.
#include "stages/contours/cuda/launch.cuh"
#include "stages/shared/device_table.h"

namespace contorno {
namespace contour_engine {
// In engine64.cu.
std::size_t workspace_bytes64(const ContourEngineSpec& spec);
ContourEngineDevice allow_kernels64(const ContourEngineSpec& spec);
void clear_workspace64(const ContourEngineSpec& spec, void* workspace, void* stream);
void enqueue64(const ContourEngineSpec& spec, const ContourEngineDevice& device,
               const Frame<ContoursView64>& frame, void* stream);
}  // namespace contour_engine

using contour_engine::Point32;

namespace {
const contour_engine::LevelRow* rows(const Block& levels) {
  return table_at<contour_engine::LevelRow>(levels);
}

void enqueue_floats(const ContourEngineSpec& spec, const ContourEngineDevice& device,
                    const contour_engine::Frame<ContoursView>& frame, void* stream) {
  if (spec.points != ContourEngineSpec::Points::Float32)
    throw InternalError("contour engine: planned for float64 points, float32 asked for");
  contour_engine::enqueue_frame<Point32>(spec, device, frame, stream);
}

}  // namespace

std::size_t CudaContourEngine::plan(const ContourEngineSpec& spec) {
  spec_ = spec;
  levels_ = Block();
  if (!spec.channel_levels.empty()) {
    const int group_planes = contour_engine::plan_group<Point32>(spec).planes;
    levels_ = device_table(contour_engine::level_rows(spec, static_cast<std::size_t>(group_planes)));
  }
  switch (spec.points) {
    case ContourEngineSpec::Points::Float32: {
      const std::size_t bytes = contour_engine::workspace_bytes<Point32>(spec);
      device_ = contour_engine::allow_kernels<Point32>(spec);
      return bytes;
    }
    case ContourEngineSpec::Points::Float64: {
      const std::size_t bytes = contour_engine::workspace_bytes64(spec);
      device_ = contour_engine::allow_kernels64(spec);
      return bytes;
    }
  }
  throw InternalError("contour engine: no such type of points");
}

void CudaContourEngine::prepare(void* workspace, void* stream) const {
  switch (spec_.points) {
    case ContourEngineSpec::Points::Float32:
      return contour_engine::clear_workspace<Point32>(spec_, workspace, stream);
    case ContourEngineSpec::Points::Float64:
      return contour_engine::clear_workspace64(spec_, workspace, stream);
  }
  throw InternalError("contour engine: no such type of points");
}

void CudaContourEngine::enqueue(const ImageView& map, const MaskView& mask, void* workspace,
                                const ContoursView& out, void* stream) const {
  enqueue_floats(spec_, device_,
                 {.map = map, .mask = mask, .workspace = workspace, .out = out, .level_rows = rows(levels_)},
                 stream);
}

void CudaContourEngine::enqueue(const ImageView& map, const MaskView& mask, void* workspace,
                                const ContoursView64& out, void* stream) const {
  if (spec_.points != ContourEngineSpec::Points::Float64)
    throw InternalError("contour engine: planned for float32 points, float64 asked for");
  contour_engine::enqueue64(
      spec_, device_,
      {.map = map, .mask = mask, .workspace = workspace, .out = out, .level_rows = rows(levels_)}, stream);
}

void CudaContourEngine::enqueue(const ImageView& map, BandedUpload* upload, const MaskView& mask,
                                void* workspace, const ContoursView& out, const ContoursView* host,
                                void* stream, const std::function<void()>& traced) const {
  enqueue_floats(spec_, device_,
                 {.map = map,
                  .mask = mask,
                  .workspace = workspace,
                  .out = out,
                  .host = host,
                  .upload = upload,
                  .traced = &traced},
                 stream);
}

void CudaContourEngine::enqueue_classes(const ImageView& map, void* workspace, std::uint32_t* plane_begin,
                                        const ContoursView& out, void* stream,
                                        const std::function<void()>& traced) const {
  ContoursView planes = out;
  planes.class_begin = plane_begin;
  enqueue_floats(spec_, device_,
                 {.map = map,
                  .mask = {},
                  .workspace = workspace,
                  .out = planes,
                  .traced = &traced,
                  .level_rows = rows(levels_),
                  .levels = out.column(Attribute::Level),
                  .channel_begin = out.class_begin},
                 stream);
}

}  // namespace contorno
