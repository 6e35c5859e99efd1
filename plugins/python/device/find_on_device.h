// The CUDA contour engine for arrays that are on a device, or are brought there: engines, workspaces and
// result blocks are kept from call to call, so that maps of one shape allocate nothing. Any thread; the GIL
// is not needed.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "plugins/python/device/device_memory.h"
#include "plugins/python/host/find_in_maps.h"
#include "stages/contours/cuda/engine.h"

namespace contorno::python {

/// Contours in device memory.
struct DeviceContours {
  DevicePlace place;
  std::shared_ptr<PooledBlock> block;
  std::uint64_t points = 0, contours = 0;
  int planes = 0;
  PointType type = PointType::Float64;
  ContourCounts* counts = nullptr;
  std::byte* point_data = nullptr;
  std::uint32_t *offsets = nullptr, *class_begin = nullptr;
  std::uint8_t* closed = nullptr;
  std::int32_t *class_ids = nullptr, *frame_ids = nullptr, *level_ids = nullptr;  ///< filled by the caller
};

/// Room for so many points and contours, in one block.
DeviceContours allocate_contours(int planes, std::uint64_t points, std::uint64_t contours, PointType type,
                                 const DevicePlace& place);

/// `map` and `mask` are device memory. Waits until the contours are counted (16 bytes come to the host); they
/// are complete then. Capacities in `spec` are ignored. Throws Error(BadConfig, BadData, OutOfMemory).
DeviceContours find_on_device(ContourEngineSpec spec, const ImageView& map, const MaskView& mask,
                              const DevicePlace& place);

FoundInMaps download(const DeviceContours& contours);
/// Puts results of several runs together, in the order of frames, planes and levels. Result
/// `image * levels_per_plane + level` has the planes of some of the frames, `planes` each. Waits until all is
/// there, ids too. Throws Error(BadData) when there are more points than offsets can count.
DeviceContours merge_on_device(const std::vector<DeviceContours>& results, int planes, int levels_per_plane,
                               const DevicePlace& place);

/// Copies frames to the device, without gaps; the view points into `block`.
MapStack upload(const MapStack& stack, const DevicePlace& place, std::shared_ptr<PooledBlock>& block);

/// Smallest and largest sample of one plane in device memory, without NaN; (infinity, -infinity) where all
/// are.
std::pair<double, double> sample_range(const ImageView& plane, const DevicePlace& place);
/// They become the default level.
double default_level_on_device(const ImageView& plane, const DevicePlace& place);

}  // namespace contorno::python
