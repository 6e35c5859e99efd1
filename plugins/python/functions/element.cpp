// Structuring elements as arrays.
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "plugins/python/functions/bindings.h"
#include "stages/morphology/params.h"

namespace contorno::python {
namespace {

/// A shape as an array of bool.
py::array_t<bool> element(const std::string& shape, const std::vector<double>& size, double angle) {
  static const ParamDeclaration declaration = morphology_params();
  ParamSet set(declaration);
  if (shape == "file") throw py::value_error("shape is 'file'; read the file and pass its array as element");
  set.set("element", shape);
  set.set("size", size);
  set.set("angle", angle);
  const StructuringElement made = element_of(set.as<MorphologyParams>());
  py::array_t<bool> mask({made.height(), made.width()});
  auto at = mask.mutable_unchecked<2>();
  for (int y = 0; y < made.height(); ++y)
    for (int x = 0; x < made.width(); ++x) at(y, x) = made.member(x, y);
  return mask;
}

}  // namespace

void bind_element(py::module_& module) {
  module.def("element", &element);
}

}  // namespace contorno::python
