// Stages of the catalogue on arrays: any of them by name, and what the catalogue says of them.
#include "plugins/python/device/stages.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <list>

#include "pipeline/value/levels.h"
#include "plugins/python/device/on_device.h"
#include "plugins/python/host/host_image.h"
#include "plugins/python/shared/bindings.h"
#include "plugins/python/shared/idle.h"
#include "plugins/python/shared/process.h"
#include "stages/catalog.h"

namespace contorno::python {
namespace {

/// An array of two dimensions; its values are copied.
SharedMask mask_of(const py::handle& value, const std::string& name) {
  if (value.is_none()) return {};
  if (py::isinstance<py::str>(value))
    throw Error(ExitCode::BadConfig, "in Python elements are arrays, not files");
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(value);
  if (!array) throw py::error_already_set();
  if (array.ndim() != 2)
    throw py::value_error(fmt::format("{} has {} dimensions, wanted 2", name, array.ndim()));
  if (array.shape(0) > Mask::kMaxSide || array.shape(1) > Mask::kMaxSide)
    throw py::value_error(fmt::format("{} has {} rows and {} columns, allowed 1 to {} each", name,
                                      array.shape(0), array.shape(1), Mask::kMaxSide));
  return std::make_shared<Mask>(Mask{.width = static_cast<int>(array.shape(1)),
                                     .height = static_cast<int>(array.shape(0)),
                                     .values = {array.data(), array.data() + array.size()}});
}

ParamValue value_of(const py::handle& value, const std::string& name) {
  if (PyBool_Check(value.ptr()) != 0) return value.cast<bool>();
  if (py::isinstance<py::str>(value)) return value.cast<std::string>();
  if (py::isinstance<py::float_>(value)) return value.cast<double>();
  if (PyIndex_Check(value.ptr()) != 0) {
    const auto whole = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (whole) return whole.cast<std::int64_t>();
    PyErr_Clear();
  }
  if (PyNumber_Check(value.ptr()) != 0 && !py::isinstance<py::sequence>(value)) return number(value);
  try {
    return value.cast<std::vector<double>>();
  } catch (const py::cast_error&) {
    throw py::type_error(fmt::format("{} is {}, wanted a number, a text, True or False, or a list of numbers",
                                     name, py::repr(value).cast<std::string>()));
  }
}

const StageType& stage_called(const std::string& name) {
  std::vector<std::string> names;
  for (const StageType* type : stage_catalog()) {
    if (type->name == name) return *type;
    names.push_back(type->name);
  }
  const std::string near = nearest(name, names);
  throw py::value_error(fmt::format("there is no stage '{}'{}", name,
                                    near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near)));
}

}  // namespace

void set_params(ParamSet& set, const py::dict& given) {
  for (const auto& [name, value] : given) {
    const auto word = py::cast<std::string>(name);
    const ParamSpec* spec = set.declaration().find(word);
    const bool is_mask = spec != nullptr && spec->kind == ParamKind::Mask;
    set.set(word, is_mask ? ParamValue(mask_of(value, word)) : value_of(value, word));
  }
}

std::string key_of(const StageType& type, const ParamSet& set) {
  std::string key = type.name;
  for (const ParamSpec& spec : type.params.specs) {
    const ParamValue value = set.get(spec.name);
    key += '\n' + to_text(value);
    // Masks of one size are told apart by their values, byte for byte.
    if (const auto* mask = std::get_if<SharedMask>(&value); mask != nullptr && *mask != nullptr)
      key.append(reinterpret_cast<const char*>((*mask)->values.data()),
                 (*mask)->values.size() * sizeof(double));
  }
  return key;
}

py::object host_image(py::handle object, const std::string& name, py::handle stream) {
  if (!is_numpy_array(object) && is_on_device(object)) return to_host(object, name, stream);
  return py::reinterpret_borrow<py::object>(object);
}

namespace {

/// Copies of all outputs; of an atlas, its levels.
py::list outputs_of(const AppliedStage& stage, const StageType& type, int dimensions, int channels) {
  py::list outputs;
  for (std::size_t port = 0; port < type.outputs.size(); ++port) {
    const auto* view = std::get_if<ImageView>(&stage.output(port));
    if (view == nullptr)
      throw py::value_error(fmt::format("the stage '{}' makes {}, not an image; use it in a Pipeline",
                                        type.name, name_of(type.outputs[port].type)));
    if (holds_levels(view->format)) {
      py::list levels;
      for (const LevelBox& box : level_boxes(view->format.atlas))
        levels.append(array_of(level_view(*view, box), dimensions, py::object()));
      outputs.append(levels);
      continue;
    }
    outputs.append(array_of(*view, dimensions_of(view->format, dimensions, channels), py::object()));
  }
  return outputs;
}

/// In memory of the stage's own: images are copied there, and results from there.
py::list apply_on_host(const StageType& type, const ParamSet& set, const py::list& images, Layout layout,
                       Backend backend, py::handle threads, py::handle stream) {
  if (backend == Backend::Cuda) require_cuda();
  std::vector<py::object> objects;
  std::list<HostArray> arrays;
  std::vector<ImageView> views;
  std::vector<ImageFormat> formats;
  std::uint64_t samples = 1;
  for (std::size_t port = 0; port < images.size(); ++port) {
    const std::string what = port < type.inputs.size() ? type.inputs[port].name : "image";
    objects.push_back(host_image(images[port], what, stream));
    views.push_back(image_of(arrays.emplace_back(objects.back(), what), what, layout));
    if (arrays.back().was_converted())
      throw py::type_error(
          fmt::format("{} has a dtype that no stage takes; convert it to uint8, uint16 or float32", what));
    formats.push_back(views.back().format);
    samples = std::max(samples, static_cast<std::uint64_t>(arrays.back().elements()));
  }
  const int dimensions = arrays.empty() ? 3 : arrays.front().dimensions();
  const int count = threads_for(threads, arrays.empty() ? 1U << 20 : samples);
  const std::string key = fmt::format("{}\n{} {}", key_of(type, set), static_cast<int>(backend), count);
  std::unique_ptr<AppliedStage> stage = Idle<AppliedStage>::instance().take(key);
  {
    const py::gil_scoped_release released;
    const SignalWatch watch;
    if (!stage) stage = std::make_unique<AppliedStage>(type, set, backend, count);
    stage->plan(formats);
    for (std::size_t port = 0; port < views.size(); ++port) copy_image(views[port], stage->input(port));
    stage->run();
  }
  py::list outputs = outputs_of(*stage, type, dimensions, formats.empty() ? 0 : formats[0].channels);
  Idle<AppliedStage>::instance().give(key, std::move(stage));
  return outputs;
}

/// `place` has been decided: Cpu or Cuda.
py::list apply(const std::string& name, const py::list& images, const py::dict& params, bool planar,
               py::handle place, py::handle threads, bool stay, py::handle stream) {
  const StageType& type = stage_called(name);
  ParamSet set(type.params);
  set_params(set, params);
  const Layout layout = planar ? Layout::Planar : Layout::Interleaved;
  const Backend backend = backend_of(place);
  const bool there = stay || std::any_of(images.begin(), images.end(), [](py::handle image) {
                       return !is_numpy_array(image) && is_on_device(image);
                     });
  if (backend == Backend::Cuda && there) {
    threads_for(threads, 1);  // only to refuse what is no number of threads
    return apply_on_device(type, set, images, layout, {stay, stream});
  }
  return apply_on_host(type, set, images, layout, backend, threads, stream);
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
    params.append(param);
  }
  stage["params"] = params;
  stage["example"] = type.example;
  stage["cuda"] = static_cast<bool>(type.make_cuda);
  return stage;
}

}  // namespace

void bind_stages(py::module_& module) {
  module.def("apply", &apply);
  module.def("is_on_device",
             [](py::handle object) { return !is_numpy_array(object) && is_on_device(object); });
  module.def("to_host", [](py::handle object, const std::string& name, py::handle stream) {
    return to_host(object, name, stream);
  });
  module.def("booleans_as_bytes", &booleans_as_bytes);
  module.def("stages", [] {
    py::dict stages;
    for (const StageType* type : stage_catalog()) stages[py::str(type->name)] = describe(*type);
    return stages;
  });
}

}  // namespace contorno::python
