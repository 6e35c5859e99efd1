// Applies a stage on CUDA to contours whose points lie on a device or are brought there. Functions are called
// with the GIL held. In a build without CUDA they exist as well, and throw Error(Unavailable).
#pragma once

#include "plugins/python/device/device_memory.h"
#include "plugins/python/host/contours.h"

namespace contorno::python {

/// How many points an array on a device has. Throws TypeError and ValueError when it is no (n, 2) array of
/// integers or floats.
std::int64_t points_on_device(py::handle points, py::handle stream);

/// Applies `type` with the parameters `set` to contours. Points on a device may be integers or floats with
/// any strides, points on the host are float32. Throws what DirectStage throws.
MadeContours apply_on_device(const StageType& type, const ParamSet& set, const GivenContours& given,
                             const SequenceFrame& frame, py::handle stream);

/// The contours that were selected from an array of points on a device: points [begin[i], begin[i] +
/// offsets[i + 1] - offsets[i]) for all i, one after the other, as a new DeviceArray of the same type.
py::object gather_on_device(py::handle points, const ContourTables::Array<std::uint32_t>& begin,
                            const ContourTables::Array<std::uint32_t>& offsets, py::handle stream);

}  // namespace contorno::python
