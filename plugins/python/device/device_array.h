// Arrays of other packages in the memory of a CUDA device, read in place: DLPack or
// __cuda_array_interface__. What an interface says is checked against what the driver knows of the memory.
// Made and destroyed with the GIL held; the memory may be read without it for as long as the DeviceArray
// lives.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "pipeline/value/image.h"
#include "plugins/python/device/dlpack.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

class DeviceArray {
 public:
  static constexpr std::size_t kMaxDimensions = 4;

  /// Whether the object says that its memory is a CUDA device's.
  static bool is_on_device(py::handle object);

  /// Work on the array is to be enqueued on `stream`; None: on the stream that its package uses
  /// (device_stream in contorno/_arrays.py). What the package has under way on the array comes before such
  /// work. `name` is for messages and must outlive this. Throws TypeError and ValueError for what is no array
  /// of numbers, or not in the memory that it names.
  DeviceArray(py::handle object, std::string_view name, py::handle stream);
  ~DeviceArray();
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  const std::vector<std::int64_t>& sides() const { return sides_; }
  const std::vector<std::int64_t>& strides() const { return strides_; }  ///< in bytes
  void* data() const { return data_; }
  int device() const { return device_; }
  void* stream() const { return stream_; }  ///< where work on the array is to be enqueued
  char kind() const { return kind_; }       ///< 'b' bool, 'i', 'u', 'f'
  int item_bytes() const { return bytes_; }
  /// None for types that contorno does not read in place.
  std::optional<ElementType> type() const;

 private:
  void take_dlpack(py::handle object);
  void* take_interface(py::handle object, py::handle stream);
  void take_strides(const py::object& strides);
  void check_type(const std::string& words) const;
  void check_memory();

  std::string_view name_;
  py::object kept_;
  dlpack::ManagedTensor* tensor_ = nullptr;
  void* data_ = nullptr;
  void* stream_ = nullptr;
  int device_ = 0, bytes_ = 0;
  char kind_ = 0;
  std::vector<std::int64_t> sides_, strides_;
};

}  // namespace contorno::python
