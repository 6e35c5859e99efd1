// contorno._core, the compiled part of the Python package.
#include "plugins/python/device/on_device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/shared/process.h"

PYBIND11_MODULE(_core, module) {
  using namespace contorno::python;
  module.doc() = "The compiled part of contorno; use the package.";
  module.attr("__version__") = CONTORNO_VERSION;
  register_errors();
  bind_process(module);
  bind_find_contours(module);
  bind_batch(module);
  bind_contours(module);
  bind_device(module);
  bind_backends(module);
  bind_diamond_square(module);
  bind_element(module);
  bind_fourier(module);
  bind_mean_shift(module);
  bind_mipmap(module);
  bind_stages(module);
}
