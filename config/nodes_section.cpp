#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "config/node_type.h"
#include "config/sections.h"

namespace contorno::config {
namespace {

/// Name and place of a stage or sink; the type's name where it has none of its own.
template <class Type>
void read_name(const YamlNode& map, Declared<Type>& declared, Problems& problems) {
  const YamlEntry* type = map.find("type");
  declared.place = type != nullptr ? type->value.place : map.place;
  if (type != nullptr) declared.name = type->value.text;
  const YamlEntry* name = map.find("name");
  if (name == nullptr) return;
  declared.place = name->value.place;
  declared.name = name->value.text;
  if (name->value.kind != YamlKind::Scalar || !is_node_name(declared.name))
    problems.add(name->value.place,
                 fmt::format("name is {}, allowed a word of a-z, 0-9 and _ that begins with a letter",
                             describe(name->value)));
  else if (declared.name == "source" || declared.name == "pipeline" || declared.name == "classes")
    problems.add(name->value.place,
                 fmt::format("name '{}' is taken by the section of that name", declared.name));
}

using SeenNames = std::unordered_map<std::string, Place>;

template <class Type>
void refuse_duplicate(const Declared<Type>& declared, SeenNames& seen, Problems& problems) {
  if (declared.name.empty()) return;
  const auto [first, is_new] = seen.emplace(declared.name, declared.place);
  if (is_new) return;
  problems.add(
      declared.place,
      fmt::format("duplicate node name '{}', first given in {}", printable(declared.name),
                  problems.name_of(first->second)),
      fmt::format("give one of them a name of its own, for example 'name: {}_2'", printable(declared.name)));
}

/// Reads the values of `map` into `params`; where all are in range, also tries what their type asks for.
template <class Type>
void read_and_try(const YamlNode& map, const std::vector<std::string>& reserved, const std::string& owner,
                  const Type& type, ParamSet& params, const Reading& reading) {
  const std::size_t before = reading.problems.size();
  read_params(map, reserved, owner, map.place, params, reading.problems, reading.catalog.read_mask);
  if (!reading.output_root || reading.problems.size() != before) return;
  params.try_out({*reading.output_root, [&](std::string_view param, ExitCode code, std::string reason) {
                    // Types begin with their own name, which most nodes have too.
                    if (reason.starts_with(type.name + ": ")) reason.erase(0, type.name.size() + 2);
                    const YamlEntry* entry = map.find(param);
                    reading.problems.add(entry == nullptr ? map.place : entry->value.place,
                                         fmt::format("{}: {}", owner, printable_sentence(reason)), "",
                                         code == ExitCode::BadOption ? ExitCode::BadConfig : code);
                  }});
}

/// The keys that every sink takes are read beside those of its type.
ParamSet read_sink_settings(const SinkType& type, const YamlNode& map, const std::string& owner,
                            Problems& problems) {
  ParamSet settings(sink_params());
  YamlNode own = map;
  std::erase_if(own.entries, [](const YamlEntry& entry) { return sink_params().find(entry.key) == nullptr; });
  read_params(own, {}, owner, map.place, settings, problems);
  if (type.needs_every_frame && settings.as<SinkSettings>().on_full == OnFull::DropOldest)
    problems.add(
        map.find("on_full") != nullptr ? map.find("on_full")->value.place : map.place,
        fmt::format("on_full of {} is drop_oldest, allowed is wait: it accounts for every frame", owner),
        "leave on_full out");
  return settings;
}

/// The keys of a stage or a sink that are no parameters of its type.
template <class Type>
std::vector<std::string> reserved_keys() {
  std::vector<std::string> keys{"type", "name", "from"};
  if constexpr (std::is_same_v<Type, SinkType>)
    for (const ParamSpec& spec : sink_params().specs) keys.push_back(spec.name);
  return keys;
}

Half half_of(const StageType& type, std::string_view word) {
  if (word == type.name) return Half::None;
  return word == type.parts.front().name ? Half::First : Half::Second;
}

template <class Type>
std::vector<Declared<Type>> read_nodes(const YamlNode& list, const std::vector<const Type*>& types,
                                       std::string_view kind, SeenNames& seen, const Reading& reading) {
  Problems& problems = reading.problems;
  std::vector<Declared<Type>> nodes;
  if (list.kind == YamlKind::Null) return nodes;
  if (list.kind != YamlKind::List) {
    problems.add(list.place, fmt::format("{}s is {}, allowed a list", kind, describe(list)),
                 fmt::format("begin every {} with '- type: ...'", kind));
    return nodes;
  }
  if (list.items.size() > kMaxNodes) {
    problems.add(list.place, fmt::format("{} {}s, allowed at most {}", list.items.size(), kind, kMaxNodes));
    return nodes;
  }
  for (const YamlNode& item : list.items) {
    if (!expect_map(item, fmt::format("a {}", kind), problems)) continue;
    Declared<Type> declared;
    read_name(item, declared, problems);
    refuse_duplicate(declared, seen, problems);
    declared.type = read_type(item, types, kind, problems, reading.catalog.left_out);
    declared.from = item.find("from");
    declared.after = nodes.size();
    declared.input_place = declared.place;
    if (declared.type != nullptr) {
      if constexpr (std::is_same_v<Type, StageType>)
        declared.half = half_of(*declared.type, item.find("type")->value.text);
      declared.params = ParamSet(declared.half == Half::First ? first_half_params() : declared.type->params);
      if constexpr (std::is_same_v<Type, StageType>)
        if (const auto step = reading.steps.find(declared.name); step != reading.steps.end())
          declared.step = step->second;
      const std::string owner =
          fmt::format("{} '{}'", kind == "stage" ? "node" : kind, printable(declared.input_name()));
      read_and_try(item, reserved_keys<Type>(), owner, *declared.type, declared.params, reading);
      if constexpr (std::is_same_v<Type, SinkType>)
        declared.settings = read_sink_settings(*declared.type, item, owner, problems);
    }
    nodes.push_back(std::move(declared));
  }
  return nodes;
}

}  // namespace

SourceSpec read_source(const YamlNode& map, const Reading& reading) {
  Problems& problems = reading.problems;
  SourceSpec source;
  if (!expect_map(map, reading.source_owner, problems)) return source;
  source.type = read_type(map, reading.catalog.sources, "source", problems, reading.catalog.left_out);
  if (source.type == nullptr) return source;
  source.params = ParamSet(source.type->params);
  read_and_try(map, reading.source_keys, reading.source_owner, *source.type, source.params, reading);
  const YamlEntry* input = map.find(source.type->input_param);
  source.where = problems.where((input == nullptr ? map.find("type") : input)->value.place);
  return source;
}

std::vector<DeclaredStage> read_stages(const YamlNode& list, const Reading& reading) {
  SeenNames seen;
  return read_nodes(list, reading.catalog.stages, "stage", seen, reading);
}

std::vector<DeclaredSink> read_sinks(const YamlNode& list, const std::vector<DeclaredStage>& stages,
                                     const Reading& reading) {
  SeenNames seen;
  for (const DeclaredStage& stage : stages) seen.emplace(stage.name, stage.place);
  return read_nodes(list, reading.catalog.sinks, "sink", seen, reading);
}

}  // namespace contorno::config
