// Lists of steps: the value of a parameter that is made of stages. In a graph the stage that has such a list
// is written out: a stage for each step.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/node_type.h"
#include "pipeline/graph/steps.h"

namespace contorno::config {
namespace {

/// Whether a step says nothing of the contours that it takes, only of what else it takes.
bool leaves_contours_alone(const YamlNode& step, const StageType& type) {
  const YamlEntry* from = step.find("from");
  return from == nullptr || (type.inputs.size() > 1 && from->value.kind == YamlKind::Map &&
                             from->value.find(type.inputs[0].name) == nullptr);
}

std::optional<StepSpec> read_step(const YamlNode& item, const StepTypes& types, const std::string& what,
                                  Problems& problems, const MaskReader& read_mask) {
  if (!expect_map(item, what, problems)) return std::nullopt;
  const StageType* type = read_type(item, types, "step", problems);
  if (type == nullptr) return std::nullopt;
  StepSpec step{.type = type, .params = ParamSet(type->params)};
  const std::size_t before = problems.size();
  if (!leaves_contours_alone(item, *type))
    problems.add(item.find("from")->place,
                 fmt::format("{} '{}': a step takes what the one before it makes", what, type->name),
                 type->inputs.size() == 1
                     ? "leave 'from' out"
                     : fmt::format("write from: {{{}: NODE}}", type->inputs.back().name));
  read_params(item, {"type", "from"}, fmt::format("{} '{}'", what, type->name), item.place, step.params,
              problems, read_mask);
  return problems.size() == before ? std::optional(std::move(step)) : std::nullopt;
}

/// The entries of a stage that is written out; no other stage has a list of steps.
struct StepList {
  YamlNode* item;
  const StageType* type;
  const ParamSpec* spec;
};

std::optional<StepList> step_list(YamlNode& item, const std::vector<const StageType*>& stages) {
  const YamlNode* word = item.kind == YamlKind::Map ? scalar_of(item, "type") : nullptr;
  if (word == nullptr) return std::nullopt;
  const auto type = std::find_if(stages.begin(), stages.end(),
                                 [&](const StageType* one) { return one->name == word->text; });
  if (type == stages.end()) return std::nullopt;
  for (const ParamSpec& spec : (*type)->params.specs)
    if (spec.kind == ParamKind::Steps) return StepList{&item, *type, &spec};
  return std::nullopt;
}

/// The steps as they are written, if nothing is wrong with them but perhaps what they say of themselves. What
/// else is wrong is found when the list is read as the value of a parameter.
std::vector<YamlNode> written_steps(const StepList& list) {
  const YamlEntry* entry = list.item->find(list.spec->name);
  for (const YamlEntry& one : list.item->entries)
    if (one.key != "type" && one.key != "name" && one.key != "from" && one.key != list.spec->name) return {};
  const SourceText nothing("");
  Problems unsaid("", nothing, {});
  if (entry == nullptr) return {};
  if (const YamlEntry* from = list.item->find("from"); from != nullptr && from->value.kind == YamlKind::Map)
    for (const YamlEntry& one : from->value.entries)
      if (one.key != list.type->inputs[0].name) return {};
  std::vector<YamlNode> steps = read_list(entry->value, "", "", unsaid).value_or(std::vector<YamlNode>());
  for (YamlNode& step : steps) {
    expand_type(step);
    if (step.kind != YamlKind::Map) return {};
    const auto* type = read_type(step, list.spec->step_types(), "step", unsaid);
    if (type == nullptr || step.find("name") != nullptr || !leaves_contours_alone(step, *type)) return {};
    // As what --set says: its paths are those of whoever calls.
    if (entry->value.style == ScalarStyle::CommandLine)
      for (YamlEntry& one : step.entries)
        if (one.value.kind == YamlKind::Scalar && one.key != "type")
          one.value.style = ScalarStyle::CommandLine;
  }
  return steps;
}

YamlNode word_at(const Place& place, std::string text) {
  return {.kind = YamlKind::Scalar, .place = place, .text = std::move(text)};
}

/// Says that the first input of a step comes from `before`.
void take_from(YamlNode& step, const StageType& type, YamlNode before) {
  YamlEntry* from = step.find("from");
  const Place place = before.place;
  if (before.kind == YamlKind::List && before.items.size() == 1) before = YamlNode(before.items[0]);
  if (type.inputs.size() > 1 && before.kind != YamlKind::Map) {
    YamlNode ports = {.kind = YamlKind::Map, .place = place};
    ports.entries.push_back({.key = type.inputs[0].name, .place = place, .value = std::move(before)});
    before = std::move(ports);
  }
  if (from == nullptr)
    step.entries.push_back({.key = "from", .place = place, .value = std::move(before)});
  else if (from->value.kind == YamlKind::Map && before.kind == YamlKind::Map)
    from->value.entries.insert(from->value.entries.end(), before.entries.begin(), before.entries.end());
}

/// A name that nobody has: NODE_TYPE, with a number where that is taken.
std::string free_name(const std::string& node, const std::string& type, std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 64, kNumber = 4;
  const std::string base =
      node.substr(0, kLongest - kNumber - std::min(kLongest - kNumber - 1, type.size() + 1)) + "_" + type;
  std::string name = base;
  for (int number = 2; !taken.insert(name).second; ++number) name = fmt::format("{}_{}", base, number);
  return name;
}

}  // namespace

bool names_steps(YamlNode& root, const Catalog& catalog, const std::string& node, const std::string& key) {
  YamlEntry* stages = root.find("stages");
  if (stages == nullptr) return false;
  return std::any_of(stages->value.items.begin(), stages->value.items.end(), [&](YamlNode& item) {
    const auto list = step_list(item, catalog.stages);
    return list && list->spec->name == key && entry_name(item) == node;
  });
}

void expand_steps(YamlNode& root, const Catalog& catalog) {
  YamlEntry* stages = root.find("stages");
  if (stages == nullptr) return;
  std::set<std::string> taken;
  for (const char* section : {"stages", "sinks"})
    if (const YamlEntry* entry = root.find(section))
      for (const YamlNode& item : entry->value.items) taken.insert(entry_name(item));
  std::vector<YamlNode> written;
  for (YamlNode& item : stages->value.items) {
    const auto list = step_list(item, catalog.stages);
    std::vector<YamlNode> steps = list ? written_steps(*list) : std::vector<YamlNode>();
    if (steps.empty()) {
      written.push_back(std::move(item));
      continue;
    }
    const std::string node = entry_name(item);
    std::string before;
    for (YamlNode& step : steps) {
      const std::string type_name = scalar_of(step, "type")->text;
      const StageType& type = stage_called(list->spec->step_types(), "step", type_name);
      const Place place = step.place;
      if (!before.empty())
        take_from(step, type, word_at(place, before));
      else if (YamlEntry* from = item.find("from"))
        take_from(step, type, std::move(from->value));
      const std::string own = free_name(is_node_name(node) ? node : list->type->name, type_name, taken);
      const bool is_last = &step == &steps.back();
      before = is_last ? node : own;
      YamlNode note{.kind = YamlKind::Map, .place = place};
      for (const auto& [key, text] :
           {std::pair{"list", list->type->name}, {"list_name", node}, {"name", own}})
        note.entries.push_back({.key = key, .place = place, .value = word_at(place, text)});
      // The last step has the name as it is written, so that what is wrong with it is found there.
      if (YamlEntry* name = item.find("name"); name != nullptr && is_last)
        step.entries.push_back(std::move(*name));
      else
        step.entries.push_back({.key = "name",
                                .place = is_last ? item.place : place,
                                .value = word_at(is_last ? item.place : place, before)});
      step.entries.push_back({.key = kListedStep, .place = place, .value = std::move(note)});
      written.push_back(std::move(step));
    }
  }
  stages->value.items = std::move(written);
}

NodeSpec::ListedStep listed_step(const YamlNode& item, const std::vector<const StageType*>& stages) {
  const YamlEntry* note = item.find(kListedStep);
  if (note == nullptr) return {};
  return {.list = &stage_called(stages, "stage", scalar_of(note->value, "list")->text),
          .list_name = scalar_of(note->value, "list_name")->text,
          .name = step_name(item)};
}

std::string step_name(const YamlNode& item) {
  const YamlEntry* note = item.find(kListedStep);
  return note == nullptr ? std::string() : scalar_of(note->value, "name")->text;
}

std::optional<ParamValue> read_steps(const YamlNode& value, const ParamSpec& spec, const std::string& what,
                                     Problems& problems, const MaskReader& read_mask) {
  const auto items = read_list(value, what, spec.allowed(), problems);
  if (!items) return std::nullopt;
  if (items->empty() || items->size() > kMaxNodes) {
    problems.add(value.place,
                 fmt::format("{} is a list of {}, allowed 1 to {} steps", what, items->size(), kMaxNodes));
    return std::nullopt;
  }
  auto steps = std::make_shared<std::vector<StepSpec>>();
  for (YamlNode item : *items) {
    expand_type(item);
    if (auto step = read_step(item, spec.step_types(), fmt::format("{}[{}]", what, steps->size()), problems,
                              read_mask))
      steps->push_back(std::move(*step));
  }
  if (steps->size() != items->size()) return std::nullopt;
  return SharedSteps(std::move(steps));
}

}  // namespace contorno::config
