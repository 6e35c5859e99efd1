// Which classes an `objects` is about, from its parameters.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "stages/contour_prep/objects/stage.h"

namespace contorno {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') - begin + 1);
}

std::vector<ObjectClass> object_classes(std::span<const ClassSpec> specs, int classes) {
  std::vector<ObjectClass> all;
  for (std::size_t k = 0; k < static_cast<std::size_t>(classes); ++k)
    all.push_back(
        k < specs.size()
            ? ObjectClass{.name = specs[k].name, .recorded = !specs[k].hidden, .whole = specs[k].whole}
            : ObjectClass{.name = fmt::format("class {}", k)});
  return all;
}

/// The class with this name, or with this number where classes have no names.
unsigned class_called(std::string_view name, const char* parameter, const std::vector<ObjectClass>& classes,
                      bool have_names) {
  const auto found = std::ranges::find(classes, name, &ObjectClass::name);
  if (found != classes.end()) return static_cast<unsigned>(found - classes.begin());
  unsigned number = 0;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (!have_names && fault == std::errc() && end == name.data() + name.size() && number < classes.size())
    return number;
  std::vector<std::string> names;
  for (const ObjectClass& one : classes) names.push_back(one.name);
  throw Error(ExitCode::BadConfig,
              have_names ? fmt::format("objects: {} has '{}', which is no class; allowed: {}", parameter,
                                       printable(name), fmt::join(names, ", "))
                         : fmt::format("objects: {} has '{}', but the classes have no names here; allowed: "
                                       "numbers from 0 to {}",
                                       parameter, printable(name), classes.size() - 1));
}

}  // namespace

ObjectsRule objects_rule(const ObjectsParams& params, std::span<const ClassSpec> specs, int classes) {
  ObjectsRule rule{.threshold = params.threshold,
                   .margin = params.margin,
                   .max_missed = static_cast<std::uint64_t>(params.max_missed),
                   .max_objects = static_cast<std::uint64_t>(params.max_objects),
                   .max_views = static_cast<std::uint64_t>(params.max_views)};
  rule.classes = object_classes(specs, classes);
  const bool have_names = !specs.empty();
  if (!params.of.empty()) {
    rule.of_class = class_called(params.of, "of", rule.classes, have_names);
  } else {
    const auto first = std::ranges::find(rule.classes, true, &ObjectClass::recorded);
    rule.of_class = first != rule.classes.end() ? static_cast<unsigned>(first - rule.classes.begin()) : 0;
  }
  rule.name = params.called.empty() ? rule.classes[rule.of_class].name : params.called;
  if (params.defects.empty()) {
    for (std::size_t k = 0; k < rule.classes.size(); ++k)
      rule.classes[k].defect = rule.classes[k].recorded && k != rule.of_class;
  } else {
    for (std::size_t begin = 0; begin <= params.defects.size();) {
      const std::size_t end = std::min(params.defects.find(',', begin), params.defects.size());
      const std::string_view name = trimmed(std::string_view(params.defects).substr(begin, end - begin));
      ObjectClass& one = rule.classes[class_called(name, "defects", rule.classes, have_names)];
      one.defect = one.recorded = true;
      begin = end + 1;
    }
  }
  return rule;
}

}  // namespace contorno
