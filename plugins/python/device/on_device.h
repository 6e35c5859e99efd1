// find_contours and find_contours_batch on the CUDA backend, for arrays on the device and on the host. The
// same functions exist in a build without CUDA and refuse.
#pragma once

#include <optional>

#include "plugins/python/host/batch.h"
#include "plugins/python/shared/pybind.h"
#include "stages/contours/find_contours.h"

namespace contorno::python {

void bind_device(py::module_& module);

/// The object's memory is that of a CUDA device.
bool is_on_device(py::handle object);
/// A NumPy array of it.
py::object to_host(py::handle object, std::string_view name, py::handle stream);

struct BatchArguments {
  Layout layout = Layout::Planar;
  PointType type = PointType::Float64;
  MapsOptions options;  ///< without mask and threads
  bool flat = false, on_device = false;
  py::handle mask, stream;
};

/// Contours of one image, in its order; `level` None: the default.
FoundInMaps find_one_on_device(py::handle image, py::handle level, py::handle mask,
                               const MapsOptions& options,
                               void (*check)(const std::vector<std::int64_t>& sides));
py::object find_batch_on_device(py::handle maps, const py::array_t<double>& levels,
                                const BatchArguments& arguments);

}  // namespace contorno::python
