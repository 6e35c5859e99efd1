// Arrays of Python on the host, read in place: whatever has the buffer protocol, __array_interface__, DLPack
// or __array__. Element types and memory orders that contorno cannot read are converted by NumPy first.
// Used with the GIL held; the memory may be read without it for as long as the HostArray lives.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "pipeline/value/image.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

/// NumPy's own class, not one derived from it; those may mean something else (masked arrays).
bool is_numpy_array(py::handle object);

class HostArray {
 public:
  HostArray() = default;
  /// `name` is for messages. Throws TypeError for what is no array of numbers.
  HostArray(py::handle object, std::string_view name);
  ~HostArray();
  HostArray(const HostArray&) = delete;
  HostArray& operator=(const HostArray&) = delete;

  int dimensions() const { return view_.ndim; }
  std::int64_t side(int axis) const { return view_.shape[axis]; }
  std::int64_t stride(int axis) const { return view_.strides[axis]; }  ///< in bytes
  std::vector<std::int64_t> sides() const { return {view_.shape, view_.shape + view_.ndim}; }
  std::int64_t elements() const;
  bool same_shape(const HostArray& other) const;

  /// Makes samples readable: one of contorno's types, and neighbours in the last axis (or, for interleaved
  /// channels, the last two) without gaps.
  void make_readable(int dense_axes);
  ElementType type() const { return type_; }  ///< after make_readable
  bool is_boolean() const { return boolean_; }
  bool was_converted() const { return converted_; }
  void* data() const { return view_.buf; }
  /// The object as it was given.
  py::handle object() const { return given_; }

 private:
  bool recognise();
  bool is_dense(int axes) const;
  void take(py::handle object);
  void release();

  std::string_view name_;
  py::object given_;
  Py_buffer view_{};
  ElementType type_ = ElementType::F64;
  bool boolean_ = false, converted_ = false;
};

}  // namespace contorno::python
