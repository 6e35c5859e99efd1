#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "config/sections.h"

namespace contorno::config {
namespace {

/// Finds the map that "TARGET." of a --set means.
class Targets {
 public:
  Targets(YamlNode& root, const ListedSteps& steps) : root_(root), steps_(steps) {}

  YamlNode* section(const std::string& name) {
    YamlEntry* entry = root_.find(name);
    if (entry == nullptr) {
      root_.entries.push_back({.key = name, .place = {}, .value = {}});
      entry = &root_.entries.back();
    }
    if (entry->value.kind == YamlKind::Null) entry->value.kind = YamlKind::Map;
    return entry->value.kind == YamlKind::Map ? &entry->value : nullptr;
  }
  YamlNode* item(std::initializer_list<const char*> sections, const std::string& name,
                 std::vector<std::string>& known) {
    for (const char* section : sections) {
      YamlEntry* list = root_.find(section);
      if (list == nullptr) continue;
      for (YamlNode& candidate : list->value.items) {
        // The name of a list of steps means none of them.
        const auto step = steps_.find(entry_name(candidate));
        const std::string own = step == steps_.end() ? entry_name(candidate) : step->second.name;
        if (own == name) return &candidate;
        known.push_back(own);
      }
    }
    return nullptr;
  }

 private:
  YamlNode& root_;
  const ListedSteps& steps_;
};

/// What was meant by an unknown node: another one, a section, or classes.NAME with the first word misspelt.
std::string meant_target(const std::string& target, std::vector<std::string> nodes) {
  const std::size_t dot = target.find('.');
  if (dot != std::string::npos && !nearest(target.substr(0, dot), {"classes"}).empty())
    return fmt::format(" (did you mean 'classes{}'?)", printable(target.substr(dot)));
  nodes.insert(nodes.end(), {"source", "pipeline"});
  return did_you_mean(target, nodes);
}

void apply_override(const Override& given, YamlNode& root, const ListedSteps& steps, Problems& problems) {
  const auto& [target, key, value, place] = given;
  if (key == "type" || key == "name" || key == "from") {
    problems.add(
        place,
        fmt::format("'{}' cannot be set{}", key, place.override_index < 0 ? "" : " from the command line"),
        "change it in the file");
    return;
  }
  Targets targets(root, steps);
  std::vector<std::string> known;
  YamlNode* map = nullptr;
  // `class NAME` is the older form.
  const std::size_t prefix = target.starts_with("classes.") ? 8 : target.starts_with("class ") ? 6 : 0;
  const bool is_class = prefix > 0;
  if (target == "source" || target == "pipeline")
    map = targets.section(target);
  else if (is_class)
    map = targets.item({"classes"}, target.substr(prefix), known);
  else
    map = targets.item({"stages", "sinks"}, target, known);
  if (map == nullptr || map->kind != YamlKind::Map) {
    const std::string name = target.substr(prefix);
    problems.add(place,
                 fmt::format("unknown {} '{}'{}", is_class ? "class" : "node", printable(name),
                             is_class ? did_you_mean(name, known) : meant_target(name, known)),
                 known.empty() ? "" : fmt::format("the graph has {}", fmt::join(known, ", ")));
    return;
  }
  put(*map, given);
}

}  // namespace

std::optional<std::pair<std::string, std::string>> target_and_key(const std::string& text) {
  const std::size_t dot = text.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == text.size()) return std::nullopt;
  return std::pair(text.substr(0, dot), text.substr(dot + 1));
}

std::vector<Override> overrides_of(const LoadOptions& options, Problems& problems) {
  std::vector<Override> overrides;
  for (std::size_t i = 0; i < options.overrides.size(); ++i) {
    const std::string& text = options.overrides[i];
    const Place place{.line = 0, .override_index = static_cast<int>(i)};
    const std::size_t equals = text.find('=');
    const auto given = equals == std::string::npos ? std::nullopt : target_and_key(text.substr(0, equals));
    if (given)
      overrides.push_back({.target = given->first,
                           .key = given->second,
                           .value = {.kind = YamlKind::Scalar,
                                     .style = ScalarStyle::CommandLine,
                                     .place = place,
                                     .text = text.substr(equals + 1)},
                           .place = place});
    else
      problems.add(place, fmt::format("'{}' is no setting", printable(text)),
                   "write NODE.KEY=VALUE, source.KEY=VALUE, pipeline.KEY=VALUE or classes.NAME.KEY=VALUE");
  }
  return overrides;
}

void put(YamlNode& map, const Override& given) {
  YamlEntry* entry = map.find(given.key);
  if (entry == nullptr) {
    map.entries.push_back({.key = given.key, .place = given.place, .value = {}});
    entry = &map.entries.back();
  }
  entry->value = given.value;
}

ListedSteps apply_overrides(YamlNode& root, const Catalog& catalog, const std::vector<Override>& overrides,
                            const std::optional<std::string>& input, Problems& problems) {
  if (input) {
    const ListedSteps none;
    YamlNode* source = Targets(root, none).section("source");
    const YamlNode* name = source == nullptr ? nullptr : scalar_of(*source, "type");
    const SourceType* type = name == nullptr ? nullptr : catalog.source(name->text);
    if (type != nullptr && !type->input_param.empty())
      put(*source, {.target = "source",
                    .key = type->input_param,
                    .value = {.kind = YamlKind::Scalar,
                              .style = ScalarStyle::CommandLine,
                              .place = source->place,
                              .text = *input},
                    .place = source->place});
  }
  ListedSteps steps;
  std::vector<const Override*> later;
  for (const Override& one : overrides)
    if (names_steps(root, catalog, one.target, one.key))
      apply_override(one, root, steps, problems);
    else
      later.push_back(&one);
  steps = expand_steps(root, catalog);
  for (const Override* one : later) apply_override(*one, root, steps, problems);
  return steps;
}

}  // namespace contorno::config
