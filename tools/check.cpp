// contorno check: is this graph right, and what does it mean?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>

#include "config/draw.h"
#include "config/load.h"
#include "cuda/error.h"
#include "pipeline/planned_graph.h"
#include "tools/commands.h"
#include "tools/say.h"

namespace contorno {
namespace {

struct CheckOptions {
  std::string graph, dot, svg, input;
  std::vector<std::string> overrides;
};

/// "-" is standard output.
void write_text(const std::string& path, const std::string& text) {
  if (path == "-") return print(text);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  if (!file) throw Error(ExitCode::CannotCreate, fmt::format("'{}' cannot be created", path));
  if (!(file << text) || !file.flush())
    throw Error(ExitCode::Io, fmt::format("'{}' cannot be written", path));
  say(fmt::format("wrote {}", path));
}

/// Opens the source and plans the stages, as a run would, but for one frame and on the CPU.
config::GraphShapes plan_shapes(GraphSpec& graph) {
  const std::unique_ptr<Source> source = graph.source.type->make(graph.source.params);
  config::GraphShapes shapes{.stream = source->format()};
  config::bind_source(graph, *shapes.stream);
  Capacities capacities(graph.nodes.size());
  PlannedGraph planned(
      {.graph = &graph, .backend = Backend::Cpu, .probes = Probes::Off, .capacities = &capacities});
  planned.plan(*shapes.stream);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    shapes.outputs.emplace_back();
    for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
      shapes.outputs.back().push_back(
          planned.format({.node = static_cast<int>(node), .port = static_cast<int>(port)}));
  }
  return shapes;
}

int check(const CheckOptions& options, const Catalog& catalog) {
  config::LoadOptions load{.overrides = options.overrides};
  if (!options.input.empty()) load.input = options.input;
  GraphSpec graph = config::load_graph(options.graph, catalog, load);
  for (const std::string& warning : config::graph_warnings(graph)) warn(warning);
  config::GraphShapes shapes;
  try {
    shapes = plan_shapes(graph);
  } catch (const Error& error) {
    // A graph may be checked where its camera or file is not; a graph that does not fit its source is wrong.
    if (error.code() == ExitCode::BadConfig) throw;
    say(fmt::format("shapes are not known: {}", error.what()));
  }
  if (!options.dot.empty()) write_text(options.dot, config::draw_dot(graph));
  if (!options.svg.empty()) write_text(options.svg, config::draw_svg(graph, &shapes));
  if (options.dot != "-" && options.svg != "-") print(config::describe_graph(graph, &shapes));
  return static_cast<int>(ExitCode::Ok);
}

}  // namespace

void add_check_command(CLI::App& app, const Catalog& catalog, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Check a graph and print it with all its values and shapes");
  auto options = std::make_shared<CheckOptions>();
  command->add_option("GRAPH", options->graph, "Graph file (YAML)")->required();
  command->add_option("--set", options->overrides, "NODE.KEY=VALUE over the graph's; may be repeated")
      ->take_all()
      ->expected(1);
  command->add_option("--input", options->input, "What the source reads, instead of what the graph says");
  command->add_option("--dot", options->dot,
                      "Draw the graph for Graphviz into this file; - is standard output");
  command->add_option("--svg", options->svg, "Draw the graph as SVG into this file; - is standard output");
  command->callback(
      [&action, &catalog, options] { action = [&catalog, options] { return check(*options, catalog); }; });
}

}  // namespace contorno
