// Results that stay on the device: arrays that other packages read without a copy, through
// __cuda_array_interface__ and DLPack. With the GIL held.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plugins/python/device/device_kernels.h"
#include "plugins/python/device/dlpack.h"
#include "plugins/python/device/find_on_device.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// An array in device memory, which it keeps. What it was computed by has ended.
struct ResultArray {
  std::shared_ptr<PooledBlock> owner;
  DevicePlace place;
  void* data = nullptr;
  std::vector<std::int64_t> sides;
  std::vector<std::int64_t> strides;  ///< in elements; none: C order
  char kind = 'f';                    ///< 'b', 'i', 'u', 'f'
  int item_bytes = 4;

  std::int64_t elements() const;
  std::size_t bytes() const { return static_cast<std::size_t>(elements() * item_bytes); }
  std::string typestr() const;
};

void bind_device_result(py::module_& module);

/// points, offsets, closed, class_ids, frame_ids, level_ids, all in the one block of the result.
py::tuple device_arrays(const DeviceContours& contours);

/// Array axes of any number up to four, as the last of four.
StridedSamples samples_of(const void* data, std::span<const std::int64_t> sides,
                          std::span<const std::int64_t> byte_strides, char kind, int item_bytes);
/// A new array of samples, in C order and of another type; waits until it is made.
ResultArray converted(const StridedSamples& from, std::vector<std::int64_t> sides, GatherTo to,
                      const DevicePlace& place);
/// A NumPy array of samples in device memory.
py::array on_host(const StridedSamples& from, std::span<const std::int64_t> sides, const DevicePlace& place);

}  // namespace contorno::python
