// What the functions on images share: where they run, and arrays that lie on a device. With the GIL held.
#pragma once

#include <string>

#include "pipeline/applied_stage.h"
#include "plugins/python/pybind.h"

namespace contorno::python {

/// Sets parameters from keyword arguments. Throws TypeError, Error(BadOption).
void set_params(ParamSet& set, const py::dict& given);
/// 'auto' is the CPU: results are wanted on the host. Throws where CUDA is asked for and not there.
Backend image_backend(py::handle word);
/// The object, or a copy of it on the host.
py::object host_image(py::handle object, const std::string& name);

}  // namespace contorno::python
