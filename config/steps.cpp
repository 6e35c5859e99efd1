// Lists of steps: the value of a parameter that is made of stages. In a graph the stage that has such a list
// is written out: a stage for each step.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/node_type.h"
#include "pipeline/graph/steps.h"

namespace contorno::config {
namespace {

/// Whether a step says nothing of the contours that it takes, but perhaps what else it takes: from: {maps:
/// NODE}.
bool leaves_contours_alone(const YamlNode& step, const StageType& type) {
  const YamlEntry* from = step.find("from");
  return from == nullptr || (type.inputs.size() > 1 && from->value.kind == YamlKind::Map &&
                             from->value.find(type.inputs[0].name) == nullptr);
}

/// Reports that step `number` says where its contours come from, which the list decides.
void refuse_from(const YamlEntry& from, const StageType& type, std::size_t number, const std::string& what,
                 Problems& problems) {
  std::string fix = number == 0 ? "write from: NODE beside the list"
                                : "leave 'from' out, or end the list here and go on with another";
  if (type.inputs.size() > 1) fix += fmt::format("; as a step: from: {{{}: NODE}}", type.inputs.back().name);
  problems.add(from.place,
               fmt::format("{} '{}' has 'from', but takes what {}", what, type.name,
                           number == 0 ? "its list takes" : "the step before it makes"),
               fix);
}

std::optional<StepSpec> read_step(const YamlNode& item, const StepTypes& types, std::size_t number,
                                  const std::string& what, Problems& problems, const MaskReader& read_mask) {
  if (!expect_map(item, what, problems)) return std::nullopt;
  const StageType* type = read_type(item, types, "step", problems);
  if (type == nullptr) return std::nullopt;
  StepSpec step{.type = type, .params = ParamSet(type->params)};
  const std::size_t before = problems.size();
  if (!leaves_contours_alone(item, *type)) refuse_from(*item.find("from"), *type, number, what, problems);
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
  const ParamSpec* const spec = list_of_steps(**type);
  return spec == nullptr ? std::nullopt : std::optional(StepList{&item, *type, spec});
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
    // A list from --set has paths of whoever calls, and so have its steps.
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

ListedSteps expand_steps(YamlNode& root, const Catalog& catalog) {
  ListedSteps listed;
  YamlEntry* stages = root.find("stages");
  if (stages == nullptr) return listed;
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
      listed.emplace(before, NodeSpec::ListedStep{.list = list->type, .list_name = node, .name = own});
      // The last step has the name as it is written, so that what is wrong with it is found there.
      if (YamlEntry* name = item.find("name"); name != nullptr && is_last)
        step.entries.push_back(std::move(*name));
      else
        step.entries.push_back({.key = "name",
                                .place = is_last ? item.place : place,
                                .value = word_at(is_last ? item.place : place, before)});
      written.push_back(std::move(step));
    }
  }
  stages->value.items = std::move(written);
  return listed;
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
  for (std::size_t number = 0; number < items->size(); ++number) {
    YamlNode item = (*items)[number];
    expand_type(item);
    if (auto step = read_step(item, spec.step_types(), number, fmt::format("{}[{}]", what, number), problems,
                              read_mask))
      steps->push_back(std::move(*step));
  }
  if (steps->size() != items->size()) return std::nullopt;
  return SharedSteps(std::move(steps));
}

}  // namespace contorno::config
