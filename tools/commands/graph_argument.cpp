#include "tools/commands/graph_argument.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "config/load.h"
#include "config/source_text.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/media/media.h"
#include "tools/learn/first_graph.h"
#include "tools/say.h"
#include "tools/shell/set_words.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

namespace fs = std::filesystem;

/// STEM.yaml, or STEM-2.yaml and so on where that is another file; nothing where it holds `text` already.
struct FreeName {
  std::string name;
  bool holds_text = false;
};

FreeName free_name(const fs::path& folder, const std::string& stem, const std::string& text) {
  for (int number = 1;; ++number) {
    FreeName free{number == 1 ? stem + ".yaml" : fmt::format("{}-{}.yaml", stem, number)};
    std::error_code ignored;
    const fs::path path = folder / free.name;
    if (!fs::exists(fs::symlink_status(path, ignored))) return free;
    free.holds_text = fs::is_regular_file(path, ignored) && read_text_file(path.string()) == text;
    if (free.holds_text) return free;
  }
}

/// The graph's text, or that of one which is made.
GivenText given_text(const GraphArguments& arguments, const Catalog& catalog) {
  GivenText given;
  if (const std::optional<FirstGraph> first = first_graph(arguments.graph, catalog)) {
    given.text = first->text;
    given.made_for = first->subject;
    given.made_stem = first->stem;
    given.name = fmt::format("<graph for {}>", printable_sentence(arguments.graph));
  } else {
    given.text = config::read_graph_file(arguments.graph);
    given.name = config::graph_file_name(arguments.graph);
  }
  return given;
}

config::LoadOptions load_options(const GraphArguments& arguments, const GivenText& given,
                                 std::optional<BackendRequest> backend) {
  config::LoadOptions options{
      .overrides = arguments.overrides, .backend = backend, .output_root = arguments.output};
  if (!arguments.input.empty()) options.input = arguments.input;
  if (given.made_for.empty()) options.input_root = config::input_root_of(arguments.graph);
  return options;
}

}  // namespace

void add_graph_arguments(CLI::App& command, GraphArguments& arguments) {
  command
      .add_option(
          "GRAPH", arguments.graph,
          "Graph file (YAML), - for standard input; or a video, picture, folder or array, for which a "
          "first graph is made")
      ->type_name("FILE")
      ->required();
  command
      .add_option("--input", arguments.input,
                  "What the source reads, instead of the graph's (file, folder, URI, device)")
      ->type_name("FILE");
  command.add_option("--output", arguments.output, "Folder for everything that is written")
      ->type_name("FOLDER")
      ->capture_default_str();
  add_graph_overrides(command, arguments);
}

void add_graph_overrides(CLI::App& command, GraphArguments& arguments) {
  command
      .add_option("--set", arguments.overrides,
                  "NODE.KEY=VALUE, source.KEY=VALUE, pipeline.KEY=VALUE or classes.NAME.KEY=VALUE over the "
                  "graph's; may be repeated")
      ->type_name("NODE.KEY=VALUE");
  command.add_flag_callback("--allow-launch", allow_launch_lines,
                            "Trust the graph: its source may be a launch line of GStreamer, which can read "
                            "and write everything that you can");
}

void add_graph_backend(CLI::App& command, std::string& backend) {
  const ParamSpec& spec = *pipeline_params().find("backend");
  command
      .add_option(
          "--backend", backend,
          "auto, cpu, cuda, cuda:1 (the second device) or cuda:all; CONTORNO_BACKEND in the environment "
          "overrides it")
      ->check(CLI::Validator(
          [&spec](const std::string& word) {
            return spec.has_choice(word) ? "" : fmt::format("{} is not {}", word, spec.allowed());
          },
          fmt::format("{{{}}}", fmt::join(words_of_param(spec), ","))));
}

std::optional<BackendRequest> forced_backend(std::string backend) {
  if (const char* forced = std::getenv("CONTORNO_BACKEND"); forced != nullptr && *forced != '\0')
    backend = forced;
  if (backend.empty()) return std::nullopt;
  ParamSet settings(pipeline_params());
  settings.set("backend", backend);
  return settings.as<PipelineSettings>().backend;
}

GivenGraph load_given_graph(const GraphArguments& arguments, const Catalog& catalog,
                            std::optional<BackendRequest> backend) {
  GivenGraph given{given_text(arguments, catalog), {}};
  given.graph =
      config::load_graph_text(given.text, given.name, catalog, load_options(arguments, given, backend));
  return given;
}

GivenFleet load_given_fleet(const GraphArguments& arguments, const Catalog& catalog,
                            std::optional<BackendRequest> backend) {
  GivenFleet given{given_text(arguments, catalog), {}};
  given.fleet =
      config::load_fleet_text(given.text, given.name, catalog, load_options(arguments, given, backend));
  return given;
}

void tell_graph_warnings(const FleetSpec& fleet) {
  std::set<std::string> told;
  for (const CameraSpec& camera : fleet.cameras)
    for (const std::string& warning : config::graph_warnings(camera.graph))
      if (told.insert(warning).second) warn(warning);
}

void keep_made_graph(const GivenText& given, const GraphArguments& arguments, Announcement announcement) {
  if (given.made_for.empty()) return;
  const FreeName free = free_name(arguments.output, given.made_stem, given.text);
  const fs::path file = resolve_output(arguments.output, free.name);
  if (!free.holds_text) {
    OutputFile out(file, Completion::Rename);
    out.write(given.text);
    out.complete();
  }
  if (announcement == Announcement::Said)
    say(fmt::format("{}; edit {} and run that for other results", given.made_for,
                    (fs::path(arguments.output) / free.name).string()));
}

}  // namespace contorno
