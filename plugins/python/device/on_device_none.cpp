// A build without CUDA: arrays on a device are recognised and refused.
#include "plugins/python/device/contours.h"
#include "plugins/python/device/on_device.h"
#include "plugins/python/device/stages.h"
#include "plugins/python/host/host_array.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {
namespace {

[[noreturn]] void refuse() {
  require_cuda();
  throw InternalError("a CUDA device answered a build without CUDA");
}

}  // namespace

bool is_on_device(py::handle object) {
  return !is_numpy_array(object) && PyObject_HasAttrString(object.ptr(), "__cuda_array_interface__") == 1;
}
py::object to_host(py::handle object, std::string_view, py::handle) {
  if (!is_on_device(object)) return py::reinterpret_borrow<py::object>(object);
  refuse();
}
FoundInMaps find_one_on_device(py::handle, py::handle, py::handle, const MapsOptions&,
                               void (*)(const std::vector<std::int64_t>&)) {
  refuse();
}
py::object find_batch_on_device(py::handle, const py::array_t<double>&, const BatchArguments&) {
  refuse();
}
py::list apply_on_device(const StageType&, const ParamSet&, const py::list&, Layout, const OutputPlace&) {
  refuse();
}
std::int64_t points_on_device(py::handle, py::handle) {
  refuse();
}
MadeContours apply_on_device(const StageType&, const ParamSet&, const GivenContours&, const SequenceFrame&,
                             py::handle) {
  refuse();
}
py::object gather_on_device(py::handle, const ContourTables::Array<std::uint32_t>&,
                            const ContourTables::Array<std::uint32_t>&, py::handle) {
  refuse();
}
py::list mipmaps_on_device(py::handle, const ParamSet&, Layout, const OutputPlace&) {
  refuse();
}
py::object diamond_square_on_device(const DiamondSquareParams&, const ImageFormat&, const OutputPlace&) {
  refuse();
}
py::object booleans_as_bytes(py::handle, py::handle) {
  refuse();
}
py::object maps_in_place(py::handle, bool) {
  refuse();
}
DevicePlace place_of(py::handle, const std::string&, py::handle) {
  refuse();
}
NewDeviceArray new_device_array(const py::dtype&, std::vector<std::int64_t>, const DevicePlace&) {
  refuse();
}
py::object to_device(const py::array&, const DevicePlace&) {
  refuse();
}
void bind_device(py::module_&) {}

}  // namespace contorno::python
