// One argument of a call (maps, an image or a mask) as memory of a device. An array on a device is read in
// place where its type and strides allow it, else copied into order; an array of the host is uploaded. Used
// with the GIL held.
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
  /// `object` is in device or host memory; see DeviceArray for `stream` and `name`. maps() brings what lies
  /// on the host to place_for(stream); image() and mask() bring it to the place that they are given.
  DeviceInput(py::handle object, std::string_view name, py::handle stream);

  std::vector<std::int64_t> sides() const;
  const DevicePlace& place() const { return place_; }

  /// The maps as the contour engine reads them: frames of planes. Valid as long as this.
  MapStack maps(const StackShape& shape);
  bool is_boolean() const { return boolean_; }
  bool was_converted() const { return converted_; }
  py::handle object() const { return object_; }

  /// One image as image stages read it, on the device of `place` and in the order of its stream. Booleans are
  /// uint8. Throws TypeError for types that no stage takes, ValueError when the array is on another device.
  ImageView image(Layout layout, const DevicePlace& place);
  bool is_on_device() const { return device_.has_value(); }
  /// Whether image() takes its samples. Only when is_on_device().
  bool has_readable_type() const { return device_->type().has_value(); }
  /// The memory of what was uploaded or copied into order; null where the array is read in place.
  const std::shared_ptr<PooledBlock>& block() const { return block_; }

  /// A boolean array of rows and columns, on the device of `place` and in the order of its stream. Throws
  /// TypeError for other types.
  MaskView mask(const DevicePlace& place);

  /// A copy of the samples as a NumPy array. Only when is_on_device().
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
