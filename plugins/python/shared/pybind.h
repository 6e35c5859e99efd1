// The one place that includes pybind11 with NumPy, and the translation of contorno's errors into Python's.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "base/error.h"

namespace contorno::python {

namespace py = pybind11;

/// Registers the translation, once a module: an Error becomes ValueError (wrong data or options),
/// FileNotFoundError, MemoryError, OSError, KeyboardInterrupt, or RuntimeError for the rest. After Ctrl-C the
/// exception that Python's signal handler has set stays.
void register_errors();

}  // namespace contorno::python
