#include <fmt/format.h>

#include "plugins/python/shared/bindings.h"

namespace contorno::python {

double number(py::handle object) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return value;
}

bool is_high(py::handle word, const char* parameter) {
  if (PyUnicode_Check(word.ptr())) {
    if (PyUnicode_CompareWithASCIIString(word.ptr(), "low") == 0) return false;
    if (PyUnicode_CompareWithASCIIString(word.ptr(), "high") == 0) return true;
  }
  throw py::value_error(fmt::format("Parameters \"{}\" must be either \"high\" or \"low\".", parameter));
}

Backend backend_of(py::handle word) {
  if (PyUnicode_Check(word.ptr()))
    for (const Backend backend : {Backend::Auto, Backend::Cpu, Backend::Cuda})
      if (PyUnicode_CompareWithASCIIString(word.ptr(), std::string(name_of(backend)).c_str()) == 0)
        return backend;
  throw py::value_error(
      fmt::format("backend is {}, allowed 'auto', 'cpu' or 'cuda'", py::repr(word).cast<std::string>()));
}

}  // namespace contorno::python
