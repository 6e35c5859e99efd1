#include "config/help_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "config/node_type.h"
#include "config/sections.h"
#include "config/yaml_text.h"

namespace contorno::config {
namespace {

HelpRow row_of(const ParamSpec& spec, const ParamSet& defaults) {
  const std::string allowed = spec.kind == ParamKind::Number && !std::isinf(spec.minimum)
                                  ? fmt::format("a number, {}", spec.allowed())
                                  : spec.allowed();
  const std::string fallback =
      spec.required ? "required" : fmt::format("default {}", yaml_value(spec, defaults.get(spec.name)));
  std::vector<std::string> synonyms;
  for (const auto& [word, choice] : spec.synonyms) synonyms.push_back(fmt::format("{} = {}", word, choice));
  const std::string also = synonyms.empty() ? "" : fmt::format("; also {}", fmt::join(synonyms, ", "));
  return {spec.name, fmt::format("{}{}; {}", allowed, also, fallback), spec.sentence};
}

HelpTable parameters(const std::vector<const ParamDeclaration*>& declarations) {
  HelpTable table{.title = "parameters", .rows = {}, .after = {}};
  for (const ParamDeclaration* declaration : declarations) {
    const ParamSet defaults(*declaration);
    for (const ParamSpec& spec : declaration->specs) table.rows.push_back(row_of(spec, defaults));
  }
  return table;
}

HelpTable ports(std::string title, const std::vector<PortSpec>& specs, bool have_defaults) {
  HelpTable table{.title = std::move(title), .rows = {}, .after = {}};
  for (const PortSpec& port : specs) {
    const std::string fallback =
        have_defaults ? fmt::format("; default {}", contorno::name_of(port.from)) : "";
    table.rows.push_back(
        {port.name, fmt::format("{}{}", contorno::name_of(port.type), fallback), port.sentence});
  }
  return table;
}

HelpTable parts(const StageType& type) {
  HelpTable table{.title = "parts", .rows = {}, .after = {}};
  for (const PartSpec& part : type.parts) table.rows.push_back({part.name, "", part.summary});
  if (!type.parts.empty())
    table.after = fmt::format(
        "Each is timed for itself. A graph may name both as nodes, {} and behind it {} with the parameters, "
        "in "
        "place of {}.",
        type.parts.front().name, type.parts.back().name, type.name);
  return table;
}

/// Tables without rows and examples without lines say nothing.
HelpPage without_empty(HelpPage page) {
  std::erase_if(page.tables, [](const HelpTable& table) { return table.rows.empty(); });
  std::erase_if(page.examples, [](const HelpExample& example) { return example.lines.empty(); });
  return page;
}

HelpPage classes_page() {
  ParamDeclaration params = class_params();
  std::erase_if(params.specs, [](const ParamSpec& spec) { return spec.name == "colour"; });  // see below
  HelpTable table = parameters({&params});
  table.rows.insert(
      table.rows.end(),
      {{"levels", fmt::format("list of 1 to {} ascending numbers, or {{from, to, step}}", kMaxClassLevels),
        "Several levels of the map, in place of level; each contour says its own."},
       {"colour", "\"#rrggbb\" or \"#rrggbbaa\"; default one of a palette, by its place",
        "Colour of its lines and legend."},
       {"references", "list of colours", "Colours that belong to the class, for classify."},
       {"ranges", "list of {hue: [from, to], saturation: [from, to], value: [from, to]}",
        "Ranges of hue (degrees, may wrap), saturation and value (0..1), for classify."}});
  return {
      .kind = "section",
      .name = "classes",
      .summary =
          "What is looked for, at which level, and how it is drawn: a list, one entry for each class map. "
          "'classes: auto' makes an entry of the defaults for each map that the source has: class0, "
          "class1 and so on.",
      .facts = {},
      .tables = {std::move(table)},
      .examples = {{"example", "classes:\n  - {name: rot, level: 0.5, colour: \"#e63946\", fill: 0.25}"},
                   {"on the command line",
                    "--set classes.rot.level=0.4 --set classes.rot.references=#4a2f1c,#5b3b24"}}};
}

HelpPage pipeline_page() {
  return {.kind = "section",
          .name = "pipeline",
          .summary = "How frames are run through the stages.",
          .facts = {},
          .tables = {parameters({&pipeline_params()})},
          .examples = {{"example", "pipeline: {backend: auto, slots: 4, deadline: 100}"}}};
}

HelpPage sources_page() {
  return {
      .kind = "section",
      .name = "sources",
      .summary =
          "The cameras of a graph: sources that run at once in one process, each through stages and "
          "sinks of its own. The path of a sink needs {camera}, which stands for the name.",
      .facts = {},
      .tables = {{.title = "keys of an entry",
                  .rows = {{"name", "text, required",
                            "A word of a-z, 0-9, _ and - with at most 32 characters, for paths, lines and "
                            "reports."},
                           {"set", "a map",
                            "What --set takes, for this camera alone: {pipeline.deadline: 60}."}},
                  .after = "Beside these an entry has the type of its source and the parameters of that."},
                 parameters({&camera_params()})},
      .examples = {{"example",
                    "sources:\n"
                    "  - {name: north, type: video, location: \"rtsp://127.0.0.1:8554/a\"}\n"
                    "  - {name: south, type: camera, device: /dev/video2, required: true, weight: 2}"},
                   {"on the command line", "--set sources.south.device=/dev/video0"}}};
}

HelpPage live_page() {
  return {
      .kind = "section",
      .name = "live",
      .summary =
          "When cameras of sources are taken for lost and opened again, for ever; what a live camera does "
          "with less instead of dropping frames, and a run without its device.",
      .facts = {},
      .tables = {parameters({&live_params()})},
      .examples = {{"example", "live: {stall: 2000, reconnect: [1000, 30000], degrade: [overlay, mip]}"}}};
}

HelpPage ops_page() {
  return {.kind = "section",
          .name = "ops",
          .summary =
              "Where contorno run says over HTTP how it gets on: metrics for Prometheus, health, readiness.",
          .facts = {},
          .tables = {parameters({&ops_params()})},
          .examples = {{"example", "ops: {listen: \"127.0.0.1:9464\"}"}}};
}

HelpPage graph_page() {
  const HelpTable sections{
      .title = "sections",
      .rows = {{"source", "a source; required, or sources", "Where frames or class maps come from."},
               {"sources", fmt::format("a list of 1 to {}, in place of source", kMostCameras),
                "Several cameras, each a source with a name; see 'contorno stages sources'."},
               {"live", "keys of the section live",
                "When a camera is lost and opened again, and what is done with less."},
               {"ops", "keys of the section ops", "Where contorno run says over HTTP how it gets on."},
               {"pipeline", "keys of the section pipeline", "How frames are run through the stages."},
               {"classes", "a list, or auto", "What is looked for, at which level, and how it is drawn."},
               {"stages", "a list of stages",
                "What is done with a frame. Each takes what the ones before it made, unless 'from' says "
                "otherwise: NODE, NODE.PORT, source.frame or source.maps, or a map from input to one of "
                "these."},
               {"sinks", "a list of sinks",
                "Where results go. Each takes the last output that fits, unless 'from' says otherwise."}},
      .after =
          "A stage, source or sink is a map with its 'type' and its parameters, and a stage or sink may "
          "have a 'name', by which others and --set mean it: {type: morphology, name: clean, operation: "
          "open}. The type alone is short for a map that has nothing else. Paths that are read are "
          "relative to the file of the graph, those that are written lie below --output."};
  return {.kind = "section",
          .name = "graph",
          .summary =
              "A YAML file that says where frames come from, what is done with each, and where the "
              "results go.",
          .facts = {},
          .tables = {sections},
          .examples = {{"example",
                        "source: {type: dataset, location: maps}\n"
                        "classes:\n"
                        "  - {name: rot, level: 0.5, colour: \"#e63946\"}\n"
                        "stages:\n"
                        "  - contours\n"
                        "  - type: drop_small\n"
                        "    min_points: 24\n"
                        "sinks:\n"
                        "  - {type: jsonl, path: contours.jsonl}"},
                       {"on the command line", "--set source.location=other --set drop_small.min_points=8"}}};
}

}  // namespace

HelpPage help_page(const SourceType& type) {
  return without_empty({.kind = "source",
                        .name = type.name,
                        .summary = type.summary,
                        .facts = {},
                        .tables = {parameters({&type.params})},
                        .examples = {{"example", type.example}}});
}

HelpPage help_page(const StageType& type) {
  const bool cpu = runs_on(type, Backend::Cpu), cuda = runs_on(type, Backend::Cuda);
  const std::string_view backends = type.on_host  ? "on the host, of graphs on cpu and cuda"
                                    : cpu && cuda ? "cpu, cuda"
                                    : cpu         ? "cpu"
                                    : cuda        ? "cuda"
                                                  : "none in this build";
  return without_empty({.kind = "stage",
                        .name = type.name,
                        .summary = type.summary,
                        .facts = fmt::format("backends: {}", backends),
                        .tables = {ports("inputs", type.inputs, true), ports("outputs", type.outputs, false),
                                   parameters({&type.params}), parts(type)},
                        .examples = {{"example", type.example}}});
}

HelpPage help_page(const SinkType& type) {
  return without_empty({.kind = "sink",
                        .name = type.name,
                        .summary = type.summary,
                        .facts = fmt::format("takes: {}", contorno::name_of(type.input)),
                        .tables = {parameters({&type.params, &sink_params()})},
                        .examples = {{"example", type.example}}});
}

const std::vector<HelpPage>& section_pages() {
  static const std::vector<HelpPage> pages{graph_page(),   pipeline_page(), classes_page(),
                                           sources_page(), live_page(),     ops_page()};
  return pages;
}

std::vector<HelpPage> help_pages(const Catalog& catalog, std::string_view name) {
  std::vector<HelpPage> pages;
  if (const SourceType* type = catalog.source(name)) pages.push_back(help_page(*type));
  for (const StageType* type : catalog.stages)
    if (const auto words = words_of(*type); std::find(words.begin(), words.end(), name) != words.end())
      pages.push_back(help_page(*type));
  if (const SinkType* type = catalog.sink(name)) pages.push_back(help_page(*type));
  for (const HelpPage& page : section_pages())
    if (page.name == name) pages.push_back(page);
  return pages;
}

}  // namespace contorno::config
