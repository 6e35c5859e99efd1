// contorno check: is this graph right, and what does it mean?
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <vector>

#include "base/error.h"
#include "config/draw.h"
#include "config/load.h"
#include "cuda/device.h"
#include "pipeline/graph/device_thread.h"
#include "pipeline/run/runner.h"
#include "pipeline/shared/threads.h"
#include "plugins/ops/ops.h"
#include "stages/catalog.h"
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

double mebibytes(std::size_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

std::string memory_text(const SlotMemory& slot, const GraphSpec& graph, Backend backend) {
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

/// "cpu", "cuda:1 (NVIDIA H200)", "one of 2 devices".
std::string place_text(const GraphSpec& graph, const BackendChoice& choice) {
  const std::size_t devices = device_report().devices.size();
  return choice.backend == Backend::Cuda && graph.settings.backend.device == BackendRequest::kAll &&
                 devices > 1
             ? fmt::format("one of {} devices", devices)
             : describe(choice);
}

struct Planned {
  config::GraphShapes shapes;
  SlotMemory slot;
};

/// Plans the stages as a run would, but takes no memory for frames.
Planned plan_shapes(GraphSpec& graph, const StreamFormat& stream, const std::vector<DegradeStep>& degrade) {
  Planned result{.shapes = {.stream = stream}};
  config::GraphShapes& shapes = result.shapes;
  if (const std::string notice = config::bind_source(graph, stream); !notice.empty()) say("note: " + notice);
  Capacities capacities(graph.nodes.size());
  const BackendChoice choice = backend_of(graph);
  std::vector<Origin> exports;
  for (const SinkSpec& sink : graph.sinks) exports.push_back(sink.input);
  for (const Origin& origin : EmptyClasses(graph, choice.backend).reads()) exports.push_back(origin);
  shapes.backend = fmt::format("runs on {}{}", place_text(graph, choice),
                               choice.reason.empty() ? "" : "; " + choice.reason);
  const PlanEnvironment environment{.graph = &graph,
                                    .backend = choice.backend,
                                    .probe_every = kNoFrame,
                                    .threads = decided_threads(graph.settings.threads),
                                    .capacities = &capacities,
                                    .exports = exports,
                                    .counted = counted_contours(graph)};
  with_device(choice, [&] {
    PlannedGraph planned(environment);
    planned.plan_formats(stream);
    for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
      shapes.outputs.emplace_back();
      for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
        shapes.outputs.back().push_back(
            planned.format({.node = static_cast<int>(node), .port = static_cast<int>(port)}));
    }
    result.slot = planned.memory();
    result.slot +=
        Runner::foretell_lower(quality_levels(graph, degrade, lighter_stage), environment, planned, stream);
  });
  shapes.memory = memory_text(result.slot, graph, choice.backend);
  return result;
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

/// A graph, or that of one camera, as it was checked.
struct Checked {
  std::string text;
  config::GraphShapes shapes;
  std::size_t bytes = 0;  ///< of a slot; 0: not known
  ExitCode code = ExitCode::Ok;
};

Checked check_graph(GraphSpec& graph, const std::vector<DegradeStep>& degrade, config::Detail detail) {
  Checked checked;
  const TriedSource source = try_source(graph);
  checked.code = source.code;
  if (source.stream) {
    Planned planned = plan_shapes(graph, *source.stream, degrade);
    checked.shapes = std::move(planned.shapes);
    checked.bytes = planned.slot.total();
  }
  checked.text = config::describe_graph(graph, &checked.shapes, detail);
  return checked;
}

/// "# 3 cameras: 12 slots take 3.2 MiB; busy frames more".
std::string sum_text(const std::vector<Checked>& all, const FleetSpec& fleet) {
  std::size_t bytes = 0, unknown = 0;
  int slots = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int own = fleet.cameras[i].graph.settings.slots;
    bytes += all[i].bytes * static_cast<std::size_t>(own);
    slots += all[i].bytes > 0 ? own : 0;
    unknown += all[i].bytes > 0 ? 0 : 1;
  }
  const std::string rest = unknown > 0 ? fmt::format("; what {} of them take is not known", unknown) : "";
  return fmt::format("# {} camera{}: {} slots take {:.1f} MiB; busy frames more{}\n", all.size(),
                     all.size() == 1 ? "" : "s", slots, mebibytes(bytes), rest);
}

std::string camera_text(const CameraSpec& camera) {
  return fmt::format("# camera {}: weight {}{}\n", camera.name, camera.settings.weight,
                     camera.settings.required ? ", required" : "");
}

int check(const CheckOptions& options, const Catalog& catalog) {
  GivenFleet given = load_given_fleet(options.graph, catalog);
  tell_graph_warnings(given.fleet);
  if (!given.fleet.ops.listen.empty()) ops_module();
  std::vector<Checked> all;
  for (CameraSpec& camera : given.fleet.cameras)
    all.push_back(check_graph(camera.graph, degrade_steps(given.fleet.live.degrade),
                              options.all ? config::Detail::All : config::Detail::Written));
  OutputRegister files = command_files();
  files.add_input(given.name, "the graph");
  // All cameras have the same stages: the drawing is that of the first.
  const std::string dot = config::draw_dot(given.fleet.cameras.front().graph, all.front().shapes);
  const std::string svg = options.svg.empty() ? "" : graphviz_svg(dot);
  write_drawing(files, options.dot, "--dot", dot);
  write_drawing(files, options.svg, "--svg", svg);
  ExitCode code = ExitCode::Ok;
  std::string text;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (code == ExitCode::Ok) code = all[i].code;
    if (given.fleet.is_named()) text += (i > 0 ? "---\n" : "") + camera_text(given.fleet.cameras[i]);
    text += all[i].text;
  }
  if (given.fleet.is_named()) text += sum_text(all, given.fleet);
  if (options.dot != "-" && options.svg != "-") print(std::string_view(text));
  return static_cast<int>(code);
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
