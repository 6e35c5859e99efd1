// contorno check: is this graph right, and what does it mean?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/error.h"
#include "config/draw.h"
#include "config/load.h"
#include "pipeline/graph/planned.h"
#include "pipeline/shared/threads.h"
#include "tools/commands/commands.h"
#include "tools/commands/graph_argument.h"
#include "tools/empty_classes.h"
#include "tools/graphviz.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct CheckOptions {
  GraphArguments graph;
  std::string dot, svg;
  bool all = false;
};

/// Writes one drawing, never over the graph or another drawing of this call; "-" is standard output.
void write_drawing(OutputRegister& files, const std::string& path, std::string_view option,
                   const std::string& text) {
  if (path.empty()) return;
  if (path == "-") return print(text);
  OutputFile file = open_named_file(files, path, option);
  file.write(text);
  file.complete();
  say(fmt::format("wrote {}", path));
}

StreamFormat stream_of(const GraphSpec& graph) {
  const SourceType& type = *graph.source.type;
  if (type.foretell) return type.foretell(graph.source.params);
  return config::make_source(graph)->format();
}

std::string memory_text(const SlotMemory& slot, const GraphSpec& graph, Backend backend) {
  const auto mebibytes = [](std::size_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  std::string text = fmt::format("a slot takes {:.1f} MiB", mebibytes(slot.total()));
  if (backend == Backend::Cuda)
    text += fmt::format(" ({:.1f} on the device, {:.1f} page-locked, {:.1f} other)", mebibytes(slot.device),
                        mebibytes(slot.pinned), mebibytes(slot.host));
  if (slot.saved > 0)
    text += fmt::format(", {:.1f} if its values shared no memory", mebibytes(slot.total() + slot.saved));
  return text + fmt::format("; {} slots {:.1f} MiB; busy frames more", graph.settings.slots,
                            mebibytes(slot.total()) * graph.settings.slots);
}

/// The backend that a run here would take; the CPU where it would refuse.
BackendChoice backend_of(const GraphSpec& graph) {
  try {
    return choose_backend(graph.settings.backend, graph);
  } catch (const Error& error) {
    return {Backend::Cpu, error.what()};
  }
}

/// Plans the stages as a run would, but takes no memory for frames.
config::GraphShapes plan_shapes(GraphSpec& graph, const StreamFormat& stream) {
  config::GraphShapes shapes{.stream = stream};
  if (const std::string notice = config::bind_source(graph, stream); !notice.empty()) say("note: " + notice);
  Capacities capacities(graph.nodes.size());
  const BackendChoice choice = backend_of(graph);
  std::vector<Origin> exports;
  for (const SinkSpec& sink : graph.sinks) exports.push_back(sink.input);
  for (const Origin& origin : EmptyClasses(graph, choice.backend).reads()) exports.push_back(origin);
  PlannedGraph planned({.graph = &graph,
                        .backend = choice.backend,
                        .probe_every = kNoFrame,
                        .threads = decided_threads(graph.settings.threads),
                        .capacities = &capacities,
                        .exports = exports,
                        .counted = counted_contours(graph)});
  planned.plan_formats(stream);
  shapes.backend =
      fmt::format("runs on {}{}", name_of(choice.backend), choice.reason.empty() ? "" : "; " + choice.reason);
  shapes.memory = memory_text(planned.memory(), graph, choice.backend);
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    shapes.outputs.emplace_back();
    for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
      shapes.outputs.back().push_back(
          planned.format({.node = static_cast<int>(node), .port = static_cast<int>(port)}));
  }
  return shapes;
}

/// What the source delivers, or why that is not known.
struct TriedSource {
  std::optional<StreamFormat> stream;
  ExitCode code = ExitCode::Ok;  ///< the code with which a run would end for want of its input
};

/// A graph may be checked where its camera is not, but not where a file is missing or damaged: it is printed
/// without shapes then, and the check has failed. A source that is wrong as it is written is an error.
TriedSource try_source(const GraphSpec& graph) {
  try {
    return {.stream = stream_of(graph)};
  } catch (const Error& error) {
    const std::string sentence = fmt::format("{}: {}", graph.source.where, error.what());
    if (error.code() == ExitCode::BadConfig || error.code() == ExitCode::BadOption)
      throw Error(ExitCode::BadConfig, sentence);
    const bool fails = config::reads_files(graph.source) &&
                       (error.code() == ExitCode::MissingInput || error.code() == ExitCode::BadData);
    say(fmt::format("{}{}; the shapes are not known without it", fails ? "" : "note: ", sentence));
    return {.stream = std::nullopt, .code = fails ? error.code() : ExitCode::Ok};
  }
}

int check(const CheckOptions& options, const Catalog& catalog) {
  GivenGraph given = load_given_graph(options.graph, catalog);
  GraphSpec& graph = given.graph;
  for (const std::string& warning : config::graph_warnings(graph)) warn(warning);
  config::GraphShapes shapes;
  const TriedSource source = try_source(graph);
  if (source.stream) shapes = plan_shapes(graph, *source.stream);
  OutputRegister files = command_files();
  files.add_input(given.name, "the graph");
  const std::string dot = config::draw_dot(graph, shapes);
  const std::string svg = options.svg.empty() ? "" : graphviz_svg(dot);
  write_drawing(files, options.dot, "--dot", dot);
  write_drawing(files, options.svg, "--svg", svg);
  if (options.dot != "-" && options.svg != "-")
    print(
        config::describe_graph(graph, &shapes, options.all ? config::Detail::All : config::Detail::Written));
  return static_cast<int>(source.code);
}

}  // namespace

void add_check_command(CLI::App& app, const Catalog& catalog, Action& action) {
  CLI::App* command =
      app.add_subcommand("check", "Check a graph, try its paths and encoders, and print it with its shapes");
  auto options = std::make_shared<CheckOptions>();
  add_graph_arguments(*command, options->graph);
  command->add_flag("--all", options->all, "Print every value, also those that are not set");
  command->add_option("--dot", options->dot, "Write the graph for Graphviz; - is standard output")
      ->type_name("FILE.dot");
  command
      ->add_option("--svg", options->svg,
                   "Write a drawing of the graph, made by Graphviz; - is standard output")
      ->type_name("FILE.svg");
  command->callback(
      [&action, &catalog, options] { action = [&catalog, options] { return check(*options, catalog); }; });
}

}  // namespace contorno
