// Arguments of functions: words, numbers and the parameters of stages. With the GIL held.
#pragma once

#include <string>

#include "pipeline/graph/stage.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// Any number, as float() would read it. Throws TypeError.
double number(py::handle object);
/// 'high' or 'low'; throws scikit-image's ValueError.
bool is_high(py::handle word, const char* parameter);
/// 'auto', 'cpu' or 'cuda'; throws ValueError.
Backend backend_of(py::handle word);

/// Sets parameters from keyword arguments; masks are arrays. Throws TypeError, ValueError, Error(BadOption).
void set_params(ParamSet& set, const py::dict& given);
/// The name of a stage and all its parameters: what a planned stage can be found by.
std::string key_of(const StageType& type, const ParamSet& set);

}  // namespace contorno::python
