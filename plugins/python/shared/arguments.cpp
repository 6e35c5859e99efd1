#include "plugins/python/shared/arguments.h"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <memory>
#include <type_traits>
#include <variant>
#include <vector>

#include "config/problems.h"
#include "pipeline/graph/steps.h"

namespace contorno::python {

double number(py::handle object) {
  const double value = PyFloat_AsDouble(object.ptr());
  if (value == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return value;
}

bool is_high(py::handle word, const char* parameter) {
  if (PyUnicode_Check(word.ptr())) {
    if (PyUnicode_CompareWithASCIIString(word.ptr(), "low") == 0) return false;
    if (PyUnicode_CompareWithASCIIString(word.ptr(), "high") == 0) return true;
  }
  throw py::value_error(fmt::format("Parameters \"{}\" must be either \"high\" or \"low\".", parameter));
}

Backend backend_of(py::handle word) {
  if (PyUnicode_Check(word.ptr()))
    for (const Backend backend : {Backend::Auto, Backend::Cpu, Backend::Cuda})
      if (PyUnicode_CompareWithASCIIString(word.ptr(), std::string(name_of(backend)).c_str()) == 0)
        return backend;
  throw py::value_error(
      fmt::format("backend is {}, allowed 'auto', 'cpu' or 'cuda'", py::repr(word).cast<std::string>()));
}

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

/// 'drop_small', or {'type': 'drop_small', 'min_points': 4}.
StepSpec step_of(const py::handle& value, const ParamSpec& spec, const std::string& name) {
  py::dict given;
  if (py::isinstance<py::str>(value))
    given["type"] = value;
  else if (py::isinstance<py::dict>(value))
    given = py::reinterpret_borrow<py::dict>(value).attr("copy")();
  const py::object type = given.attr("pop")("type", py::none());
  std::vector<std::string> names;
  for (const StageType* one : spec.step_types()) {
    names.push_back(one->name);
    if (!py::str(one->name).equal(type)) continue;
    StepSpec step{.type = one, .params = ParamSet(one->params)};
    try {
      set_params(step.params, given);
    } catch (const Error& error) {
      throw Error(error.code(), fmt::format("{} '{}': {}", name, one->name, error.what()));
    }
    return step;
  }
  const std::string near =
      py::isinstance<py::str>(type) ? config::did_you_mean(type.cast<std::string>(), names) : "";
  throw py::value_error(
      fmt::format("{} is {}{}, wanted the name of a step or a dict with its 'type', as {{'type': "
                  "'drop_small', 'min_points': 4}}; allowed is {}",
                  name, py::repr(value).cast<std::string>(), near, spec.allowed()));
}

SharedSteps steps_of(const py::handle& value, const ParamSpec& spec) {
  if (!py::isinstance<py::sequence>(value) || py::isinstance<py::str>(value))
    throw py::type_error(
        fmt::format("{} is {}, wanted {}", spec.name, py::repr(value).cast<std::string>(), spec.allowed()));
  auto steps = std::make_shared<std::vector<StepSpec>>();
  for (const auto& one : py::reinterpret_borrow<py::sequence>(value))
    steps->push_back(step_of(one, spec, fmt::format("{}[{}]", spec.name, steps->size())));
  return steps;
}

}  // namespace

void set_params(ParamSet& set, const py::dict& given) {
  for (const auto& [name, value] : given) {
    const auto word = py::cast<std::string>(name);
    const ParamSpec* spec = set.declaration().find(word);
    if (spec != nullptr && spec->kind == ParamKind::Mask)
      set.set(word, mask_of(value, word));
    else if (spec != nullptr && spec->kind == ParamKind::Steps)
      set.set(word, steps_of(value, *spec));
    else
      set.set(word, value_of(value, word));
  }
}

namespace {

/// Appends a value byte for byte.
struct KeyWriter {
  std::string& key;

  void bytes(const void* data, std::size_t size) const { key.append(static_cast<const char*>(data), size); }
  template <class T>
  void operator()(const T& plain) const {
    static_assert(std::is_arithmetic_v<T>);
    bytes(&plain, sizeof(T));
  }
  void operator()(const std::string& text) const {
    (*this)(text.size());
    key += text;
  }
  void operator()(const std::vector<double>& numbers) const {
    (*this)(numbers.size());
    bytes(numbers.data(), numbers.size() * sizeof(double));
  }
  void operator()(const SharedSteps& steps) const {
    (*this)(steps ? steps->size() : 0);
    if (steps)
      for (const StepSpec& step : *steps) key += key_of(*step.type, step.params);
  }
  void operator()(const SharedMask& mask) const {
    (*this)(mask ? mask->width : 0);
    if (mask) (*this)(mask->values);
  }
};

}  // namespace

std::string key_of(const StageType& type, const ParamSet& set) {
  std::string key = type.name;
  for (const ParamSpec& spec : type.params.specs) std::visit(KeyWriter{key}, set.get(spec.name));
  return key;
}

}  // namespace contorno::python
