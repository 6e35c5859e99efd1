// Results that stay on the device: arrays that other packages read without a copy, through
// __cuda_array_interface__ and DLPack.
#pragma once

#include "plugins/python/find_on_device.h"
#include "plugins/python/pybind.h"

namespace contorno::python {

void bind_device_result(py::module_& module);

/// points, offsets, closed, class_ids, frame_ids, level_ids, all in the one block of the result.
py::tuple device_arrays(const DeviceContours& contours);

}  // namespace contorno::python
