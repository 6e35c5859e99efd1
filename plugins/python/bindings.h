// The parts of the module, and what they share about arguments and results.
#pragma once

#include <cstring>

#include "pipeline/stage.h"
#include "plugins/python/pybind.h"

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

/// An array of the points [points, points + count), float or double. By NumPy's own function, which takes a
/// third of the time that py::array takes: small images have many short contours.
template <class T>
py::array points_array(const void* points, std::size_t count) {
  static PyObject* const type = py::dtype::of<T>().release().ptr();
  static const auto& numpy = py::detail::npy_api::get();
  const Py_intptr_t sides[] = {static_cast<Py_intptr_t>(count), 2};
  Py_INCREF(type);  // the function takes it over
  PyObject* const array =
      numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, type, 2, sides, nullptr, nullptr, 0, nullptr);
  if (array == nullptr) throw py::error_already_set();
  std::memcpy(py::detail::array_proxy(array)->data, points, count * 2 * sizeof(T));
  return py::reinterpret_steal<py::array>(array);
}

}  // namespace contorno::python
