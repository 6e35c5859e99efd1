// A stage on contours whose points lie on a device or are brought there. With the GIL held. The functions
// exist in a build without CUDA as well, and refuse.
#pragma once

#include "plugins/python/device/device_memory.h"
#include "plugins/python/host/contours.h"

namespace contorno::python {

/// How many points an array on a device has. Throws TypeError and ValueError when it is no (n, 2) array of
/// integers or floats.
std::int64_t points_on_device(py::handle points, py::handle stream);

/// Points on a device are of any type and strides, those on the host float32. Throws what DirectStage throws.
MadeContours apply_on_device(const StageType& type, const ParamSet& set, const GivenContours& given,
                             py::handle stream);

/// Points [begin[i], begin[i] + offsets[i + 1] - offsets[i]) of an array on a device, for all i one after the
/// other, as a DeviceArray of the same type.
py::object gather_on_device(py::handle points, const ContourTables::Array<std::uint32_t>& begin,
                            const ContourTables::Array<std::uint32_t>& offsets, py::handle stream);

}  // namespace contorno::python
