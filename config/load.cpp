#include "config/load.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/sections.h"

namespace contorno::config {
namespace {

constexpr std::size_t kLongestSection = 64;  // longer words resemble none

const std::vector<std::string>& top_level_keys() {
  static const std::vector<std::string> keys{"source",   "sources", "live",   "ops",
                                             "pipeline", "classes", "stages", "sinks"};
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

void read_graph(const YamlNode& root, const LoadOptions& options, const Reading& reading, GraphSpec& graph) {
  Problems& problems = reading.problems;
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
  connect(join_halves(std::move(stages), problems), std::move(sinks), reading.catalog, graph, problems);
}

/// What the graphs of one file have in common.
struct Loading {
  const Catalog& catalog;
  const LoadOptions& options;
  Problems& problems;
};

/// Reads the tree of a graph with at most one source. `camera` is the entry of `sources:` that it is for.
GraphSpec read_tree(YamlNode root, const std::vector<Override>& overrides, const std::string* camera,
                    const Loading& loading) {
  const LoadOptions& options = loading.options;
  GraphSpec graph;
  const std::optional<std::string> input = camera == nullptr ? options.input : std::nullopt;
  const ListedSteps steps = apply_overrides(root, loading.catalog, overrides, input, loading.problems);
  place_inputs(root, loading.catalog, options.input_root);
  graph.written = written_keys(root);
  Reading reading{loading.catalog, options.output_root, steps, loading.problems};
  if (camera != nullptr) {
    name_sinks(root, *camera, loading.catalog, loading.problems);
    reading.source_owner = fmt::format("source '{}'", printable(*camera));
    reading.source_keys = camera_keys();
  }
  read_graph(root, options, reading, graph);
  return graph;
}

/// Cameras are opened again for ever: how often is no question.
void refuse_attempts(const YamlNode& source, Problems& problems) {
  if (const YamlEntry* entry = source.find("reconnect_attempts"))
    problems.add(entry->place, "reconnect_attempts is for a graph with one 'source'",
                 "take it out: the sources of 'sources' are opened again for ever, as 'live' says");
}

/// A section that stands beside the graph; nothing is wrong with one that is absent.
template <class Settings>
Settings read_section(const YamlNode& root, const char* name, const ParamDeclaration& declaration,
                      const Loading& loading) {
  ParamSet params(declaration);
  const YamlEntry* entry = root.find(name);
  if (entry == nullptr || !expect_map(entry->value, name, loading.problems)) return {};
  const std::size_t before = loading.problems.size();
  read_params(entry->value, {}, name, entry->place, params, loading.problems);
  if (loading.problems.size() == before)
    params.try_out({"", [&](std::string_view key, ExitCode code, const std::string& reason) {
                      loading.problems.add(entry->value.find(key)->value.place, reason, "", code);
                    }});
  return params.as<Settings>();
}

/// `degrade: [overlay, mip]` is a list of words, which the parameter has in one text.
void join_steps(YamlNode& root, Problems& problems) {
  YamlEntry* const live = root.find("live");
  YamlEntry* const degrade =
      live != nullptr && live->value.kind == YamlKind::Map ? live->value.find("degrade") : nullptr;
  if (degrade == nullptr || degrade->value.kind != YamlKind::List) return;
  YamlNode joined{.kind = YamlKind::Scalar, .style = ScalarStyle::Quoted, .place = degrade->value.place};
  for (const YamlNode& item : degrade->value.items) {
    if (item.kind != YamlKind::Scalar)
      return problems.add(
          item.place,
          fmt::format("degrade has {}, allowed is a list of overlay, mip and thin", describe(item)));
    joined.text += (joined.text.empty() ? "" : ", ") + item.text;
  }
  degrade->value = std::move(joined);
}

/// What is said of cameras with names says nothing of one source.
void refuse_camera_keys(const YamlNode& root, Problems& problems) {
  const YamlEntry* const live = root.find("live");
  if (live == nullptr || live->value.kind != YamlKind::Map) return;
  for (const char* key : {"stall", "reconnect"})
    if (const YamlEntry* entry = live->value.find(key))
      problems.add(entry->place, fmt::format("'live.{}' is for a graph with 'sources'", key),
                   "take it out, or name the source: sources: [{name: ..., type: ..., ...}]");
}

void refuse_both(const YamlNode& root, const Loading& loading) {
  const YamlEntry *one = root.find("source"), *several = root.find("sources");
  if (one != nullptr)
    loading.problems.add(
        one->place,
        fmt::format("the graph has 'source' and, in {}, 'sources'", loading.problems.name_of(several->place)),
        "keep one of them; the entries of 'sources' have names");
  if (loading.options.input)
    loading.problems.add(several->place, "--input names one input, and the graph has 'sources'",
                         "use --set sources.NAME.KEY=VALUE");
}

std::vector<CameraSpec> read_cameras(YamlNode root, std::vector<Override> command_line,
                                     const Loading& loading) {
  Problems& problems = loading.problems;
  refuse_both(root, loading);
  std::erase_if(root.entries, [](const YamlEntry& entry) { return entry.key == "source"; });
  std::vector<CameraTree> trees = split_cameras(root, command_line, problems);
  std::vector<CameraSpec> cameras;
  const Problems none = problems.empty_copy();
  Problems of_graphs = none;  // what cameras share is told once
  if (trees.empty()) {        // what is wrong with the rest of the file is told all the same
    LoadOptions options = loading.options;
    options.source = SourceUse::Optional;
    std::erase_if(root.entries, [](const YamlEntry& entry) { return entry.key == "sources"; });
    Problems own = none;
    read_tree(root, command_line, nullptr, {loading.catalog, options, own});
    problems.append(own);
  }
  for (CameraTree& tree : trees) {
    Problems own = none;
    const YamlNode& source = tree.root.find("source")->value;
    refuse_attempts(source, own);
    std::vector<Override> overrides = std::move(tree.set);
    overrides.insert(overrides.end(), command_line.begin(), command_line.end());
    const std::string name = tree.camera.name.empty() ? entry_name(source) : tree.camera.name;
    CameraSpec camera = std::move(tree.camera);
    camera.graph = read_tree(std::move(tree.root), overrides, &name, {loading.catalog, loading.options, own});
    if (camera.graph.source.type != nullptr && own.empty()) {
      camera.reads_files = reads_files(camera.graph.source);
      if (camera.graph.source.type->params.find("reconnect_attempts") != nullptr)
        camera.graph.source.params.set("reconnect_attempts", std::int64_t{0});
    }
    cameras.push_back(std::move(camera));
    of_graphs.add_new(own);
  }
  problems.append(of_graphs);
  return cameras;
}

}  // namespace

FleetSpec load_fleet_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options) {
  const SourceText source(text);
  Problems problems(file_name, source, options.overrides);
  const Loading loading{catalog, options, problems};
  FleetSpec fleet;
  YamlNode root;
  if (source.check(problems)) root = parse_yaml(source, problems);
  if (problems.empty() && root.kind == YamlKind::Null)
    problems.add({}, "the graph has no nodes: the file holds nothing but blanks and comments",
                 "a graph has the sections source, classes, stages and sinks");
  else if (problems.empty() && expect_map(root, "the graph", problems)) {
    refuse_unknown_sections(root, problems);
    expand_shorthand(root);
    std::vector<Override> overrides = overrides_of(options, problems);
    join_steps(root, problems);
    fleet.live = read_section<LiveSettings>(root, "live", live_params(), loading);
    fleet.ops = read_section<OpsSettings>(root, "ops", ops_params(), loading);
    if (root.find("sources") != nullptr) {
      fleet.cameras = read_cameras(std::move(root), std::move(overrides), loading);
    } else {
      refuse_camera_keys(root, problems);
      fleet.cameras.push_back({.graph = read_tree(std::move(root), overrides, nullptr, loading)});
    }
  }
  if (!problems.empty()) throw ConfigErrors(problems.code(), problems.report(), problems.size());
  return fleet;
}

GraphSpec load_graph_text(const std::string& text, const std::string& file_name, const Catalog& catalog,
                          const LoadOptions& options) {
  FleetSpec fleet = load_fleet_text(text, file_name, catalog, options);
  if (fleet.is_named())
    throw ConfigErrors(
        ExitCode::BadConfig,
        fmt::format("{}: error: the graph has 'sources', and one source is needed here\n"
                    "  fix: contorno run, check and latency take several; elsewhere give one as "
                    "'source: {{type: ..., ...}}'",
                    printable(file_name, 4096)),
        1);
  return std::move(fleet.cameras.front().graph);
}

GraphSpec load_graph(const std::string& path, const Catalog& catalog, const LoadOptions& options) {
  LoadOptions from_file = options;
  if (from_file.input_root.empty()) from_file.input_root = input_root_of(path);
  return load_graph_text(read_graph_file(path), graph_file_name(path), catalog, from_file);
}

}  // namespace contorno::config
