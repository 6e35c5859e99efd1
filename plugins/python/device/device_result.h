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

/// An array in device memory; Python's DeviceArray. It keeps the memory alive, and the work that computed it
/// has ended.
struct ResultArray {
  std::shared_ptr<PooledBlock> owner;
  DevicePlace place;
  void* data = nullptr;
  std::vector<std::int64_t> sides;
  std::vector<std::int64_t> strides;  ///< in elements; empty: C order
  char kind = 'f';                    ///< 'b', 'i', 'u', 'f'
  int item_bytes = 4;

  std::int64_t elements() const;
  std::size_t bytes() const { return static_cast<std::size_t>(elements() * item_bytes); }
  std::string typestr() const;
};

void bind_device_result(py::module_& module);

/// DeviceArrays points, offsets, closed, class_ids, frame_ids and level_ids, over the one block of the
/// result.
py::tuple device_arrays(const DeviceContours& contours);

/// An array of up to four axes as one of four: sides of 1 come in front.
StridedSamples samples_of(const void* data, std::span<const std::int64_t> sides,
                          std::span<const std::int64_t> byte_strides, char kind, int item_bytes);
/// A new array with `sides` and the samples of `from`, in C order and converted; waits until it is made.
ResultArray converted(const StridedSamples& from, std::vector<std::int64_t> sides, GatherTo to,
                      const DevicePlace& place);
/// A copy of samples in device memory as a NumPy array.
py::array on_host(const StridedSamples& from, std::span<const std::int64_t> sides, const DevicePlace& place);

}  // namespace contorno::python
