#include "plugins/python/host/host_array.h"

#include <bit>
#include <cstdint>

namespace contorno::python {
namespace {

/// A function of contorno/_arrays.py.
py::object helper(const char* name) {
  return py::module_::import("contorno._arrays").attr(name);
}

/// The code of a buffer with native numbers, 0 for all others.
char code_of(const char* format) {
  if (format == nullptr) return 'B';
  if (*format == '@' || *format == '=') ++format;
  if (*format == '<' && std::endian::native == std::endian::little) ++format;
  return format[0] != 0 && format[1] == 0 ? format[0] : '\0';
}

}  // namespace

bool is_numpy_array(py::handle object) {
  static PyObject* const type = py::object(py::module_::import("numpy").attr("ndarray")).release().ptr();
  return reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) == type;
}

HostArray::HostArray(py::handle object, std::string_view name)
    : name_(name), given_(py::reinterpret_borrow<py::object>(object)) {
  if (is_numpy_array(object)) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FULL_RO) == 0) return;
    PyErr_Clear();  // a type that has no buffer, a date for example; the helper says so
  }
  take(helper("to_numpy")(object, name));
}

HostArray::~HostArray() {
  release();
}

void HostArray::release() {
  if (view_.obj != nullptr) PyBuffer_Release(&view_);
}

void HostArray::take(py::handle object) {
  release();
  if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_FULL_RO) != 0) throw py::error_already_set();
}

std::int64_t HostArray::elements() const {
  std::int64_t count = 1;
  for (int axis = 0; axis < view_.ndim; ++axis) count *= view_.shape[axis];
  return count;
}

bool HostArray::same_shape(const HostArray& other) const {
  if (view_.ndim != other.view_.ndim) return false;
  for (int axis = 0; axis < view_.ndim; ++axis)
    if (view_.shape[axis] != other.view_.shape[axis]) return false;
  return true;
}

/// Sets the element type; false when contorno has none for it.
bool HostArray::recognise() {
  boolean_ = false;
  switch (code_of(view_.format)) {
    case '?':
      boolean_ = true;
      type_ = ElementType::U8;
      return true;
    case 'B':
      type_ = ElementType::U8;
      return true;
    case 'H':
      type_ = ElementType::U16;
      return true;
    case 'e':
      type_ = ElementType::F16;
      return true;
    case 'f':
      type_ = ElementType::F32;
      return true;
    case 'd':
      type_ = ElementType::F64;
      return true;
    default:
      return false;
  }
}

/// No gaps within the last `axes` axes, and everything aligned.
bool HostArray::is_dense(int axes) const {
  const auto size = static_cast<std::int64_t>(view_.itemsize);
  if (reinterpret_cast<std::uintptr_t>(view_.buf) % static_cast<std::uintptr_t>(size) != 0) return false;
  std::int64_t wanted = size;
  for (int axis = view_.ndim - 1; axis >= 0; --axis) {
    if (view_.ndim - 1 - axis < axes) {
      if (view_.strides[axis] != wanted && view_.shape[axis] != 1) return false;
      wanted *= view_.shape[axis];
    } else if (view_.strides[axis] % size != 0) {
      return false;
    }
  }
  return true;
}

void HostArray::make_readable(int dense_axes) {
  if (recognise() && is_dense(dense_axes)) return;
  const bool known = recognise();
  take(helper("to_samples")(given_, name_, known));
  converted_ = !known;
  if (!recognise() || !is_dense(dense_axes))
    throw InternalError("an array that NumPy converted cannot be read");
}

}  // namespace contorno::python
