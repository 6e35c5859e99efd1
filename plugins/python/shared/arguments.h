// Reads arguments of Python functions: words, numbers and the parameters of stages. Functions are called with
// the GIL held.
#pragma once

#include <string>

#include "pipeline/graph/stage.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// The value of an object that Python can convert to a float (texts it cannot). Throws TypeError.
double number(py::handle object);
/// True for 'high', false for 'low'; else throws scikit-image's ValueError.
bool is_high(py::handle word, const char* parameter);
/// 'auto', 'cpu' or 'cuda'; throws ValueError.
Backend backend_of(py::handle word);

/// Sets parameters from keyword arguments; masks are arrays. Throws TypeError, ValueError, Error(BadOption).
void set_params(ParamSet& set, const py::dict& given);
/// A key for Idle: the name of a stage and the values of all its parameters.
std::string key_of(const StageType& type, const ParamSet& set);

}  // namespace contorno::python
