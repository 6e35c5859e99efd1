// The functions on images for arrays that lie on a device or are brought there. With the GIL held. They exist
// in a build without CUDA as well, and refuse.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/graph/stage.h"
#include "plugins/python/device/device_memory.h"
#include "plugins/python/shared/pybind.h"
#include "stages/diamond_square/field.h"

namespace contorno::python {

/// Where results are wanted: on the host, or left on the device; and the CUDA stream, or None.
struct OutputPlace {
  bool stay = false;
  py::handle stream;
};

/// A stage on images that lie on a device or are brought there; without any, on the stream's device. Images
/// are read, and results written, where they lie.
py::list apply_on_device(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                         const OutputPlace& output);
/// The image as it was given, and its levels.
py::list mipmaps_on_device(py::handle image, const ParamSet& set, Layout layout, const OutputPlace& output);
py::object diamond_square_on_device(const DiamondSquareParams& params, const ImageFormat& format,
                                    const OutputPlace& output);

/// An array of booleans on a device as bytes of 0 and 255; None for others.
py::object booleans_as_bytes(py::handle object, py::handle stream);
/// Where work on an array is done: its device and the stream (see DeviceArray); for arrays on the host
/// place_for.
DevicePlace place_of(py::handle object, const std::string& name, py::handle stream);
/// A new DeviceArray in C order, and where its values go.
struct NewDeviceArray {
  py::object array;
  void* data = nullptr;
};
NewDeviceArray new_device_array(const py::dtype& type, std::vector<std::int64_t> sides,
                                const DevicePlace& place);
/// A copy of a NumPy array in C order, as a DeviceArray.
py::object to_device(const py::array& array, const DevicePlace& place);

}  // namespace contorno::python
