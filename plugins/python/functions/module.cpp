// contorno._core, the compiled part of the Python package.
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>

#include "plugins/catalog.h"
#include "plugins/extension.h"
#include "plugins/python/device/on_device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/shared/process.h"

namespace {

/// pybind11 before 2.12 reads the size of a type where NumPy 1 has it; NumPy 2 has something else there.
void check_numpy() {
#if PYBIND11_VERSION_HEX < 0x020C0000
  const auto version = pybind11::module_::import("numpy").attr("__version__").cast<std::string>();
  if (std::atoi(version.c_str()) < 2) return;
  throw pybind11::import_error("contorno was built with pybind11 " PYBIND11_TOSTRING(
      PYBIND11_VERSION_MAJOR) "." PYBIND11_TOSTRING(PYBIND11_VERSION_MINOR) ", which cannot read arrays of "
      "NumPy 2 (here: " + version + "): install NumPy below 2, or build contorno with pybind11 2.12 or newer");
#endif
}

/// What Python may run by name; it changes while Python's lock is held.
contorno::Catalog& catalog() {
  static contorno::Catalog all = contorno::host_catalog();
  return all;
}

/// Python's lock is not held while a file is opened: its code may want it.
void load(const std::string& file) {
  static std::mutex one_at_a_time;
  const pybind11::gil_scoped_release unlocked;
  const std::lock_guard lock(one_at_a_time);
  contorno::Catalog all;
  {
    const pybind11::gil_scoped_acquire locked;
    all = catalog();
  }
  all = contorno::with_extensions(std::move(all), {file});
  const pybind11::gil_scoped_acquire locked;
  catalog() = std::move(all);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  using namespace contorno::python;
  check_numpy();
  module.doc() = "The compiled part of contorno; use the package.";
  module.attr("__version__") = CONTORNO_VERSION;
  register_errors();
  bind_process(module);
  bind_find_contours(module);
  bind_batch(module);
  bind_contours(module, catalog().stages);
  bind_device(module);
  bind_backends(module);
  bind_diamond_square(module);
  bind_element(module);
  bind_fourier(module);
  bind_mean_shift(module);
  bind_mipmap(module);
  bind_stages(module, catalog().stages);
  module.def("load", &load);
}
