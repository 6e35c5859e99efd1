// Maps and a mask on the device for one call: read in place where they lie there and can be, brought there
// or put in order otherwise. With the GIL held.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "plugins/python/device/device_array.h"
#include "plugins/python/device/find_on_device.h"
#include "plugins/python/host/batch.h"
#include "plugins/python/host/host_array.h"

namespace contorno::python {

class DeviceInput {
 public:
  /// `object` is in device or host memory; see DeviceArray for `stream`. What lies on the host is for the
  /// device and stream of place_for(stream), or for others that maps, mask or image are told.
  DeviceInput(py::handle object, std::string_view name, py::handle stream);

  std::vector<std::int64_t> sides() const;
  const DevicePlace& place() const { return place_; }

  /// Frames of planes that the contour engine can read.
  MapStack maps(const StackShape& shape);
  bool is_boolean() const { return boolean_; }
  bool was_converted() const { return converted_; }
  py::handle object() const { return object_; }

  /// One image as image stages read it, on the device of `place` and in the order of its stream. Booleans are
  /// uint8. Throws TypeError for types that no stage takes.
  ImageView image(Layout layout, const DevicePlace& place);
  bool is_on_device() const { return device_.has_value(); }
  /// What was brought to the device or put in order for maps or image; null where it is read in place.
  const std::shared_ptr<PooledBlock>& block() const { return block_; }

  /// A boolean array of rows and columns, on the device of `place` and in the order of its stream.
  MaskView mask(const DevicePlace& place);

  /// The samples in a NumPy array.
  py::array on_host();

 private:
  bool is_readable(const StackShape& shape) const;
  MapStack in_place(const StackShape& shape) const;
  MapStack gathered(const StackShape& shape, Layout layout);
  void follow(const DevicePlace& place) const;
  MapStack uploaded(const StackShape& shape, const DevicePlace& place);

  std::string_view name_;
  py::object object_;
  DevicePlace place_;
  std::optional<DeviceArray> device_;
  std::optional<HostArray> host_;
  std::shared_ptr<PooledBlock> block_;
  bool boolean_ = false, converted_ = false;
};

/// The stream's device and the stream; without one, the current device and a stream of this package's own.
DevicePlace place_for(py::handle stream);

}  // namespace contorno::python
