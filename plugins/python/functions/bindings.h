// The functions that add classes and functions to the Python module contorno._core, a group each.
#pragma once

#include "plugins/python/shared/pybind.h"

namespace contorno::python {

void bind_element(py::module_& module);
void bind_find_contours(py::module_& module);
void bind_batch(py::module_& module);
void bind_contours(py::module_& module);
void bind_backends(py::module_& module);
void bind_diamond_square(py::module_& module);
void bind_fourier(py::module_& module);
void bind_mean_shift(py::module_& module);
void bind_mipmap(py::module_& module);
void bind_stages(py::module_& module);

}  // namespace contorno::python
