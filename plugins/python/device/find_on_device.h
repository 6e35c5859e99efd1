// Finds contours with the CUDA contour engine, in maps that are on a device or are brought there. Engines,
// workspaces and result blocks are kept from call to call, so that maps of one shape allocate nothing.
// Functions may be called from any thread, without the GIL.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "plugins/python/device/device_kernels.h"
#include "plugins/python/device/device_memory.h"
#include "plugins/python/host/find_in_maps.h"
#include "stages/contours/cuda/engine.h"

namespace contorno::python {

/// Contours in device memory. All pointers are into `block`; the arrays are as in FoundInMaps
/// (plugins/python/host/find_in_maps.h).
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

/// Copies contours to the host, without their ids, and waits for that.
FoundInMaps download(const DeviceContours& contours);
/// Merges the results of several runs of the engine into one, one after the other: each has one frame or
/// several, of `axes`. Writes the ids, and waits until all is there. Throws Error(BadData) when there are
/// more points than int32 offsets can count.
DeviceContours merge_on_device(const std::vector<DeviceContours>& results, const PlaneAxes& axes,
                               const DevicePlace& place);

/// Copies frames from the host to the device, without gaps; the result points into `block`, which it sets.
MapStack upload(const MapStack& stack, const DevicePlace& place, std::shared_ptr<PooledBlock>& block);

/// Smallest and largest sample of one plane in device memory, NaN left out; (infinity, -infinity) where all
/// are NaN.
std::pair<double, double> sample_range(const ImageView& plane, const DevicePlace& place);
/// The level in the middle of that range (see level_between); NaN where all samples are NaN.
double default_level_on_device(const ImageView& plane, const DevicePlace& place);

}  // namespace contorno::python
