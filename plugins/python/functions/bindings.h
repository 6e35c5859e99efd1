// The functions that add classes and functions to the Python module contorno._core, a group each.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/graph/graph.h"
#include "plugins/python/shared/pybind.h"

namespace contorno::python {

void bind_element(py::module_& module);
void bind_find_contours(py::module_& module);
void bind_batch(py::module_& module);
/// `stages` are those that Python may run by name; the list lives as long as the module, and grows by
/// contorno.load.
using CatalogStages = std::vector<const StageType*>;
void bind_contours(py::module_& module, const CatalogStages& stages);
void bind_backends(py::module_& module);
void bind_diamond_square(py::module_& module);
void bind_fourier(py::module_& module);
void bind_mean_shift(py::module_& module);
void bind_mipmap(py::module_& module);
void bind_stages(py::module_& module, const CatalogStages& stages);

/// A function of a stage and more, as Python calls it: with the stage's name.
template <class Result, class... Rest>
auto with_stage(const CatalogStages& stages, Result (*function)(const StageType&, Rest...)) {
  return [&stages, function](const std::string& name, Rest... rest) {
    return function(stage_called(stages, "stage", name), std::forward<Rest>(rest)...);
  };
}

}  // namespace contorno::python
