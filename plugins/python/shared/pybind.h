// pybind11 with NumPy, in the one place that includes it, and how contorno's errors become Python's.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "cuda/error.h"

namespace contorno::python {

namespace py = pybind11;

/// ValueError for wrong data and options, FileNotFoundError, MemoryError, OSError, RuntimeError for the rest.
/// A run that Ctrl-C ended leaves Python's own exception.
void register_errors();

}  // namespace contorno::python
