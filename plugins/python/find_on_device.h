// The CUDA contour engine for arrays that are on a device, or are brought there: engines, workspaces and
// result blocks are kept from call to call, so that maps of one shape allocate nothing. Any thread; the GIL
// is not needed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "cuda/memory.h"
#include "plugins/python/find_in_maps.h"
#include "stages/contour_engine_cuda.h"

namespace contorno::python {

/// Where work is done. All calls of one result use the same.
struct DevicePlace {
  int device = 0;
  void* stream = nullptr;
};

/// A block that goes back to be used again on its stream when nobody holds it.
class PooledBlock {
 public:
  PooledBlock(std::size_t bytes, MemoryKind kind, const DevicePlace& place);
  ~PooledBlock();
  PooledBlock(const PooledBlock&) = delete;
  PooledBlock& operator=(const PooledBlock&) = delete;
  std::byte* data() const { return block_.data(); }

 private:
  Block block_;
  DevicePlace place_;
};

/// Contours in device memory.
struct DeviceContours {
  DevicePlace place;
  std::shared_ptr<PooledBlock> block;
  std::uint64_t points = 0, contours = 0;
  int planes = 0;
  PointType type = PointType::Float64;
  std::byte* point_data = nullptr;
  std::uint32_t *offsets = nullptr, *class_begin = nullptr;
  std::uint8_t* closed = nullptr;
  std::int32_t *class_ids = nullptr, *frame_ids = nullptr, *level_ids = nullptr;  ///< filled by the caller
};

/// `map` and `mask` are device memory. Waits until the contours are counted (16 bytes come to the host); they
/// are complete then. Capacities in `spec` are ignored. Throws Error(BadConfig, BadData, OutOfMemory).
DeviceContours find_on_device(ContourEngineSpec spec, const ImageView& map, const MaskView& mask,
                              const DevicePlace& place);

FoundInMaps download(const DeviceContours& contours);

/// Copies frames to the device, without gaps; the view points into `block`.
MapStack upload(const MapStack& stack, const DevicePlace& place, std::shared_ptr<PooledBlock>& block);

/// Smallest and largest sample of one plane in device memory become the default level.
double default_level_on_device(const ImageView& plane, const DevicePlace& place);

/// The current device and a stream of this package's own, for arrays that come from the host.
DevicePlace own_place();

}  // namespace contorno::python
