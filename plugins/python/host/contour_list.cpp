#include "plugins/python/host/contour_list.h"

#include <cstdint>
#include <cstring>

namespace contorno::python {
namespace {

/// Makes (n, 2) arrays with NumPy's own function: py::array takes its arguments as vectors, and small images
/// have many short contours.
class ArrayMaker {
 public:
  explicit ArrayMaker(PointType type) : type_(type == PointType::Float32 ? float_type() : double_type()) {}

  /// Not initialised.
  py::object own(std::size_t points) const { return make(points, nullptr, 0); }
  static std::byte* data(const py::object& array) {
    return reinterpret_cast<std::byte*>(py::detail::array_proxy(array.ptr())->data);
  }
  /// Over memory of `owner`.
  py::object view(std::size_t points, std::byte* data, const py::object& owner) const {
    py::object array = make(points, data, Numpy::NPY_ARRAY_WRITEABLE_);
    if (numpy().PyArray_SetBaseObject_(array.ptr(), py::object(owner).release().ptr()) != 0)
      throw py::error_already_set();
    return array;
  }

 private:
  using Numpy = py::detail::npy_api;
  static const Numpy& numpy() {
    static const Numpy& api = Numpy::get();
    return api;
  }
  static PyObject* float_type() {
    static PyObject* const type = py::dtype::of<float>().release().ptr();
    return type;
  }
  static PyObject* double_type() {
    static PyObject* const type = py::dtype::of<double>().release().ptr();
    return type;
  }
  py::object make(std::size_t points, std::byte* data, int flags) const {
    const Py_intptr_t sides[] = {static_cast<Py_intptr_t>(points), 2};
    Py_INCREF(type_);  // the function takes it over
    PyObject* const array =
        numpy().PyArray_NewFromDescr_(numpy().PyArray_Type_, type_, 2, sides, nullptr, data, flags, nullptr);
    if (array == nullptr) throw py::error_already_set();
    return py::reinterpret_steal<py::object>(array);
  }

  PyObject* type_;
};

}  // namespace

template <class Offset>
py::list contour_list(const std::byte* points, PointType type, std::span<const Offset> offsets) {
  const ArrayMaker maker(type);
  const std::size_t size = point_bytes(type), count = offsets.size() - 1;
  const auto first = [&](std::size_t contour) { return static_cast<std::size_t>(offsets[contour]); };
  auto list = py::reinterpret_steal<py::list>(PyList_New(static_cast<Py_ssize_t>(count)));
  if (!list) throw py::error_already_set();
  for (std::size_t begin = 0; begin < count;) {
    // As many contours as fit share an array, at least one.
    std::size_t end = begin + 1;
    while (end < count && (first(end + 1) - first(begin)) * size <= kSharedBytes) ++end;
    const std::size_t all = first(end) - first(begin);
    py::object array = maker.own(all);
    std::byte* const data = ArrayMaker::data(array);
    if (all > 0) std::memcpy(data, points + first(begin) * size, all * size);
    if (end == begin + 1) {
      PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(begin), array.release().ptr());
    } else {
      for (std::size_t i = begin; i < end; ++i) {
        py::object part = maker.view(first(i + 1) - first(i), data + (first(i) - first(begin)) * size, array);
        PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), part.release().ptr());
      }
    }
    begin = end;
  }
  return list;
}

template py::list contour_list(const std::byte*, PointType, std::span<const std::uint32_t>);
template py::list contour_list(const std::byte*, PointType, std::span<const std::int64_t>);

}  // namespace contorno::python
