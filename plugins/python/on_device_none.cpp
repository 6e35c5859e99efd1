// A build without CUDA: arrays on a device are recognised and refused.
#include "plugins/python/on_device.h"
#include "plugins/python/process.h"

namespace contorno::python {
namespace {

[[noreturn]] void refuse() {
  require_cuda();
  throw InternalError("a CUDA device answered a build without CUDA");
}

}  // namespace

bool is_on_device(py::handle object) {
  return PyObject_HasAttrString(object.ptr(), "__cuda_array_interface__") == 1;
}
py::object to_host(py::handle, std::string_view, py::handle) {
  refuse();
}
FoundInMaps find_one_on_device(py::handle, py::handle, py::handle, const MapsOptions&,
                               void (*)(const std::vector<std::int64_t>&)) {
  refuse();
}
py::object find_batch_on_device(py::handle, const py::array_t<double>&, const BatchArguments&) {
  refuse();
}
void bind_device(py::module_&) {}

}  // namespace contorno::python
