// find_contours and find_contours_batch on the CUDA backend, for arrays on a device and on the host. In a
// build without CUDA the functions exist as well; those that need a device throw Error(Unavailable).
#pragma once

#include <optional>

#include "pipeline/graph/stage.h"
#include "plugins/python/host/batch.h"
#include "plugins/python/shared/pybind.h"
#include "stages/contours/find_contours.h"

namespace contorno::python {

void bind_device(py::module_& module);

/// Whether the object's memory is that of a CUDA device.
bool is_on_device(py::handle object);
/// Maps (C, H, W), planar, or (H, W, C), or one plane (H, W), that lie on a device, for Pipeline.push: the
/// tuple that pipeline_module.cpp reads as an ImageView and its MapsPlace, with an object that keeps the
/// memory. What is not in such an order is copied into it, on the device. None where their samples are of a
/// type that is not read there.
py::object maps_in_place(py::handle maps, bool planar);
/// The object itself, or a copy of it as a NumPy array if it lies on a device.
py::object to_host(py::handle object, std::string_view name, py::handle stream);

/// Whether maps are searched on the device: if `wanted` says so, or, with Auto, if they lie there. If not,
/// maps and mask (None: no mask) become arrays of the host.
inline bool on_device_or_to_host(Backend wanted, py::object& maps, py::object& mask, std::string_view name,
                                 py::handle stream) {
  if (wanted == Backend::Cuda || (wanted == Backend::Auto && is_on_device(maps))) return true;
  maps = to_host(maps, name, stream);
  if (!mask.is_none()) mask = to_host(mask, "mask", stream);
  return false;
}

struct BatchArguments {
  Layout layout = Layout::Planar;
  PointType type = PointType::Float64;
  MapsOptions options;  ///< without mask and threads
  bool flat = false, on_device = false;
  py::handle mask, stream;
};

/// Contours of one image at one level; None: the middle of its range. `check` throws for sides that an image
/// must not have. The result is on the host.
FoundInMaps find_one_on_device(py::handle image, py::handle level, py::handle mask,
                               const MapsOptions& options,
                               void (*check)(const std::vector<std::int64_t>& sides));
/// What find_contours_batch returns: with `on_device` the tuple of device_arrays, with `flat` that of
/// flat_arrays, else nested_lists.
py::object find_batch_on_device(py::handle maps, const py::array_t<double>& levels,
                                const BatchArguments& arguments);

}  // namespace contorno::python
