// The parts of the module, and what they share about arguments and results.
#pragma once

#include "pipeline/graph/stage.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

void bind_find_contours(py::module_& module);
void bind_batch(py::module_& module);
void bind_backends(py::module_& module);
void bind_diamond_square(py::module_& module);
void bind_mean_shift(py::module_& module);
void bind_mipmap(py::module_& module);
void bind_morphology(py::module_& module);
void bind_stages(py::module_& module);

/// Any number, as float() would read it. Throws TypeError.
double number(py::handle object);
/// 'high' or 'low'; throws scikit-image's ValueError.
bool is_high(py::handle word, const char* parameter);
/// 'auto', 'cpu' or 'cuda'; throws ValueError.
Backend backend_of(py::handle word);

}  // namespace contorno::python
