#include "config/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/sections.h"

namespace contorno::config {
namespace {

constexpr std::size_t kLongestSection = 64;  // longer words resemble none

const std::vector<std::string>& top_level_keys() {
  static const std::vector<std::string> keys{"source", "pipeline", "classes", "stages", "sinks"};
  return keys;
}

/// A section that is misspelt is read as the one that it resembles, so that what is wrong inside it is found
/// too.
void refuse_unknown_sections(YamlNode& root, Problems& problems) {
  const std::vector<std::string>& known = top_level_keys();
  for (YamlEntry& entry : root.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    problems.add(entry.place,
                 fmt::format("unknown section '{}'{}", printable(entry.key), did_you_mean(entry.key, known)),
                 fmt::format("the sections are {}", fmt::join(known, ", ")));
    const std::string meant = entry.key.size() <= kLongestSection ? nearest(entry.key, known) : std::string();
    if (!meant.empty() && root.find(meant) == nullptr) entry.key = meant;
  }
}

void read_settings(const YamlNode& root, const LoadOptions& options, GraphSpec& graph, Problems& problems) {
  ParamSet params(pipeline_params());
  const YamlEntry* entry = root.find("pipeline");
  if (entry != nullptr && entry->value.kind == YamlKind::Scalar)
    problems.add(
        entry->value.place, "pipeline is text, allowed a map of settings",
        "media elements are chosen by the types of source and sinks; a launch line can only be a source: "
        "{type: gst, launch: ...}");
  else if (entry != nullptr && expect_map(entry->value, "pipeline", problems))
    read_params(entry->value, {}, "pipeline", entry->place, params, problems);
  graph.settings = params.as<PipelineSettings>();
  if (options.backend) graph.settings.backend = *options.backend;
}

/// Without a stage that looks at colours the channels of a frame would be contoured in place of the classes.
void refuse_unused_colours(const YamlNode& classes, const std::vector<DeclaredStage>& stages,
                           Problems& problems) {
  const auto any = [&](const auto& is) { return std::any_of(stages.begin(), stages.end(), is); };
  const bool unknown = any([](const DeclaredStage& stage) { return stage.type == nullptr; });
  if (unknown || !any([](const DeclaredStage& stage) { return stage.type->classes == ClassUse::Needed; }) ||
      any([](const DeclaredStage& stage) { return looks_at_colours(*stage.type); }))
    return;
  for (const YamlNode& item : classes.items)
    for (const char* key : {"references", "ranges"})
      if (const YamlEntry* entry = item.kind == YamlKind::Map ? item.find(key) : nullptr)
        return problems.add(
            entry->place,
            fmt::format("a class has {}, but no stage looks at colours: classify is missing", key),
            fmt::format("put classify before the stage that takes its maps, as stages: [classify, ...]; or "
                        "take the {} out, if the source has the maps",
                        key));
}

void read_graph(const YamlNode& root, const Catalog& catalog, const LoadOptions& options,
                const ListedSteps& steps, GraphSpec& graph, Problems& problems) {
  const Reading reading{catalog, options.output_root, steps, problems};
  read_settings(root, options, graph, problems);
  if (const YamlEntry* entry = root.find("source"))
    graph.source = read_source(entry->value, reading);
  else if (options.source == SourceUse::Needed)
    problems.add({}, "section 'source' is missing", "say where frames come from: source: {type: ..., ...}");
  if (const YamlEntry* entry = root.find("classes")) graph.classes = read_classes(entry->value, problems);

  std::vector<DeclaredStage> stages;
  std::vector<DeclaredSink> sinks;
  if (const YamlEntry* entry = root.find("stages")) {
    stages = read_stages(entry->value, reading);
    const auto user = std::find_if(stages.begin(), stages.end(), [](const DeclaredStage& stage) {
      return stage.type != nullptr && stage.type->classes == ClassUse::Needed;
    });
    if (user != stages.end() && root.find("classes") == nullptr)
      problems.add(
          entry->place,
          fmt::format("section 'classes' is missing: {} needs to know what to look for", user->input_name()),
          "add classes: [{name: ..., level: 0.5, colour: \"#e63946\"}]");
  }
  if (const YamlEntry* entry = root.find("classes")) refuse_unused_colours(entry->value, stages, problems);
  if (const YamlEntry* entry = root.find("sinks")) sinks = read_sinks(entry->value, stages, reading);
  if (root.find("stages") == nullptr && root.find("sinks") == nullptr)
    problems.add({}, "the graph has no nodes: neither stages nor sinks",
                 "add a stages: list and a sinks: list");
  connect(join_halves(std::move(stages), problems), std::move(sinks), catalog, graph, problems);
}

}  // namespace

GraphSpec load_graph_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options) {
  const SourceText source(text);
  Problems problems(file_name, source, options.overrides);
  GraphSpec graph;
  YamlNode root;
  if (source.check(problems)) root = parse_yaml(source, problems);
  if (problems.empty() && root.kind == YamlKind::Null)
    problems.add({}, "the graph has no nodes: the file holds nothing but blanks and comments",
                 "a graph has the sections source, classes, stages and sinks");
  else if (problems.empty() && expect_map(root, "the graph", problems)) {
    refuse_unknown_sections(root, problems);
    expand_shorthand(root);
    const ListedSteps steps = apply_overrides(root, catalog, options, problems);
    place_inputs(root, catalog, options.input_root);
    graph.written = written_keys(root);
    read_graph(root, catalog, options, steps, graph, problems);
  }
  if (!problems.empty()) throw ConfigErrors(problems.code(), problems.report(), problems.size());
  return graph;
}

GraphSpec load_graph(const std::string& path, const Catalog& catalog, const LoadOptions& options) {
  LoadOptions from_file = options;
  if (from_file.input_root.empty()) from_file.input_root = input_root_of(path);
  return load_graph_text(read_graph_file(path), graph_file_name(path), catalog, from_file);
}

}  // namespace contorno::config
