// Random fields of heights.
#include "stages/diamond_square/field.h"

#include <pybind11/stl.h>

#include "plugins/python/device/stages.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"
#include "stages/diamond_square/params.h"

namespace contorno::python {
namespace {

/// `given` are parameters of the stage; seed and origin may be larger than those. `place` has been decided:
/// 'cpu' or 'cuda'.
py::object make_field(const py::dict& given, std::uint64_t seed, std::pair<std::int64_t, std::int64_t> origin,
                      py::handle place, py::handle threads, bool stay, py::handle stream) {
  ParamSet set(diamond_square_stage().params);
  set_params(set, given);
  const auto options = set.as<FieldOptions>();
  DiamondSquareParams params = field_params(options);
  params.seed = seed, params.row = origin.second, params.col = origin.first;
  ImageFormat format = field_format(options);
  format.layout = Layout::Planar;
  if (backend_of(place) == Backend::Cuda) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    return diamond_square_on_device(params, format, {stay, stream});
  }
  NewImage image = new_image(format, format.channels == 1 ? 2 : 3);
  const int count = threads_for(threads, static_cast<std::uint64_t>(image.array.size()));
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    diamond_square(params, image.view, count);
  }
  return std::move(image.array);
}

}  // namespace

void bind_diamond_square(py::module_& module) {
  module.def("diamond_square", &make_field);
}

}  // namespace contorno::python
