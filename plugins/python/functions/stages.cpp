// Stages of the catalogue on arrays: any of them by name, and what the catalogue says of them.
#include "plugins/python/device/stages.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "pipeline/graph/applied.h"
#include "pipeline/graph/graph.h"
#include "plugins/python/device/on_device.h"
#include "plugins/python/functions/bindings.h"
#include "plugins/python/host/apply.h"
#include "plugins/python/shared/arguments.h"
#include "plugins/python/shared/process.h"

namespace contorno::python {

namespace {

/// A stage on images wherever they lie. `place` has been decided: 'cpu' or 'cuda'.
py::list apply(const StageType& type, const py::list& images, const py::dict& params, bool planar,
               py::handle place, py::handle threads, bool stay, py::handle stream) {
  ParamSet set(type.params);
  set_params(set, params);
  check_on_images(type);
  const Layout layout = planar ? Layout::Planar : Layout::Interleaved;
  if (backend_of(place) == Backend::Cuda) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    return apply_on_device(type, set, images, layout, {stay, stream});
  }
  py::list on_host;
  for (std::size_t port = 0; port < images.size(); ++port)
    on_host.append(to_host(images[port], port_name(type, port), stream));
  return apply_on_host(type, set, on_host, layout, threads);
}

py::dict describe(const StageType& type) {
  py::dict stage;
  stage["name"] = type.name;
  stage["summary"] = type.summary;
  const auto ports = [](const std::vector<PortSpec>& specs) {
    py::list list;
    for (const PortSpec& port : specs)
      list.append(py::make_tuple(port.name, std::string(name_of(port.type)), port.sentence));
    return list;
  };
  stage["inputs"] = ports(type.inputs);
  stage["outputs"] = ports(type.outputs);
  const ParamSet defaults(type.params);
  py::list params;
  for (const ParamSpec& spec : type.params.specs) {
    py::dict param;
    param["name"] = spec.name;
    param["kind"] = std::string(name_of(spec.kind));
    param["unit"] = std::string(name_of(spec.unit));
    param["sentence"] = spec.sentence;
    param["allowed"] = spec.allowed();
    param["default"] = to_text(defaults.get(spec.name));
    param["required"] = spec.required;
    params.append(param);
  }
  stage["params"] = params;
  py::list parts;
  for (const PartSpec& part : type.parts) parts.append(py::make_tuple(part.name, part.summary));
  stage["parts"] = parts;
  stage["example"] = type.example;
  stage["cuda"] = runs_on(type, Backend::Cuda);
  return stage;
}

/// Whether a stage with these parameters does, where there is a device.
bool runs_on_cuda(const StageType& type, const py::dict& params) {
  ParamSet set(type.params);
  set_params(set, params);
  return why_not_on_device(graph_of(type, set)).empty();
}

}  // namespace

void bind_stages(py::module_& module, const CatalogStages& stages) {
  module.def("apply", with_stage(stages, &apply));
  module.def("runs_on_cuda", with_stage(stages, &runs_on_cuda));
  module.def("is_on_device", &is_on_device);
  module.def("to_host", &to_host);
  module.def("maps_in_place", &maps_in_place);
  module.def("booleans_as_bytes", &booleans_as_bytes);
  module.def("stages", [&stages] {
    py::dict all;
    for (const StageType* type : stages) all[py::str(type->name)] = describe(*type);
    return all;
  });
}

}  // namespace contorno::python
