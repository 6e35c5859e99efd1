#include <new>

#include "pipeline/shared/printable.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {
namespace {

PyObject* exception_of(ExitCode code) {
  switch (code) {
    case ExitCode::Usage:
    case ExitCode::BadOption:
    case ExitCode::BadData:
    case ExitCode::BadConfig:
      return PyExc_ValueError;
    case ExitCode::MissingInput:
      return PyExc_FileNotFoundError;
    case ExitCode::OutOfMemory:
      return PyExc_MemoryError;
    case ExitCode::CannotCreate:
    case ExitCode::Io:
      return PyExc_OSError;
    case ExitCode::Interrupted:
    case ExitCode::Terminated:
      return PyExc_KeyboardInterrupt;
    case ExitCode::Ok:
    case ExitCode::FramesFailed:
    case ExitCode::Unavailable:
    case ExitCode::Internal:
      break;
  }
  return PyExc_RuntimeError;
}

}  // namespace

void register_errors() {
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      // A signal handler's own exception is already set.
      if (error.code() == ExitCode::Interrupted && PyErr_Occurred() != nullptr) return;
      PyErr_SetString(exception_of(error.code()), masked(error.what()).c_str());
    }
  });
}

}  // namespace contorno::python
