// Applies image stages on CUDA to arrays that lie on a device or are brought there, and makes arrays on a
// device. Functions are called with the GIL held. In a build without CUDA they exist as well, and throw
// Error(Unavailable).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/graph/stage.h"
#include "plugins/python/device/device_memory.h"
#include "plugins/python/shared/pybind.h"
#include "stages/diamond_square/field.h"

namespace contorno::python {

/// Where results are wanted, and on which stream they are computed.
struct OutputPlace {
  bool stay = false;  ///< true: results are DeviceArrays; false: NumPy arrays
  py::handle stream;  ///< None: as DeviceArray and place_for decide
};

/// Applies a stage to images; the work is done where the first lies that is on a device, else at
/// place_for(stream). Returns a list as apply_on_host does.
py::list apply_on_device(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                         const OutputPlace& output);
/// A list of the levels of a mipmap chain. Level 0 is the image that was given, as it is where it already
/// lies where results are wanted, else a copy.
py::list mipmaps_on_device(py::handle image, const ParamSet& set, Layout layout, const OutputPlace& output);
py::object diamond_square_on_device(const DiamondSquareParams& params, const ImageFormat& format,
                                    const OutputPlace& output);

/// A copy of an array of booleans on a device as bytes of 0 and 255; None for arrays of other types.
py::object booleans_as_bytes(py::handle object, py::handle stream);
/// Where work on an array is done: its device and the stream that DeviceArray chooses; place_for(stream) for
/// arrays on the host.
DevicePlace place_of(py::handle object, const std::string& name, py::handle stream);
/// A new DeviceArray in C order, not initialised, and its memory on the device.
struct NewDeviceArray {
  py::object array;
  void* data = nullptr;
};
NewDeviceArray new_device_array(const py::dtype& type, std::vector<std::int64_t> sides,
                                const DevicePlace& place);
/// A copy of a NumPy array in C order, as a DeviceArray.
py::object to_device(const py::array& array, const DevicePlace& place);

}  // namespace contorno::python
