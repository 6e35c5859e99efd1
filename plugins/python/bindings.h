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

/// An array of `count` points, C order, not initialised.
template <class T>
py::array make_points(Py_ssize_t count) {
  static const py::handle type = py::dtype::of<T>().release();
  constexpr auto kSize = static_cast<Py_ssize_t>(sizeof(T));
  return {py::reinterpret_borrow<py::dtype>(type), {count, Py_ssize_t{2}}, {2 * kSize, kSize}};
}

}  // namespace contorno::python
