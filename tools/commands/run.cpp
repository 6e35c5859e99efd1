// contorno run: a graph from YAML, a source, sinks, a progress line, a report.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "config/describe.h"
#include "config/load.h"
#include "pipeline/run/runner.h"
#include "plugins/text/pango.h"
#include "tools/commands/commands.h"
#include "tools/commands/frame_choice.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/empty_classes.h"
#include "tools/frame_log.h"
#include "tools/interrupt.h"
#include "tools/report.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct RunArguments {
  GraphArguments graph;
  std::string report, trace;
  std::string backend;
  FrameChoice frames;
  bool preview = false, quiet = false;
};

/// The sinks of a graph, made and bound.
struct Sinks {
  std::vector<std::unique_ptr<Sink>> owned;
  std::vector<SinkBinding> bindings;
};

Sinks make_sinks(const GraphSpec& graph) {
  Sinks sinks;
  for (const SinkSpec& spec : graph.sinks) {
    sinks.owned.push_back(spec.type->make(spec.params));
    sinks.bindings.push_back(bind_sink(spec, *sinks.owned.back()));
  }
  return sinks;
}

void add_preview(GraphSpec& graph, const Catalog& catalog) {
  const SinkType& preview = config::sink_called(catalog, "preview");
  Origin last;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node)
    for (std::size_t port = 0; port < graph.nodes[node].type->outputs.size(); ++port)
      if (graph.nodes[node].type->outputs[port].type == PortType::Image)
        last = {static_cast<int>(node), static_cast<int>(port)};
  graph.sinks.push_back(
      {.name = "preview", .type = &preview, .params = ParamSet(preview.params), .input = last});
}

/// A file that a flag names, relative to the output folder. Begun before the work, so that it cannot fail
/// after it for a reason that was known; without a complete() nothing is left of it.
OutputFile begin_file(OutputRegister& files, const RunArguments& arguments, const std::string& path,
                      std::string_view flag) {
  if (path.empty()) return {};
  return open_named_file(
      files, path == "-" ? path : (std::filesystem::path(arguments.graph.output) / path).string(), flag);
}

void finish_file(OutputFile& file, const std::string& text) {
  file.write(text);
  file.complete();
}

int exit_code(const RunReport& report, int signal) {
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) return static_cast<int>(sink.code);
  if (signal != 0) return 128 + signal;
  const bool whole = report.frames.failed == 0 && report.source_faults.empty();
  return static_cast<int>(!whole ? ExitCode::FramesFailed : ExitCode::Ok);
}

/// The names of the tracks of a trace.
std::vector<std::pair<std::int32_t, std::string>> track_names(const GraphSpec& graph) {
  std::vector<std::pair<std::int32_t, std::string>> names{
      {kReaderTrack, "reader"}, {kLauncherTrack, "launcher"}, {kFinisherTrack, "finisher"}};
  std::int32_t track = kSinkTracks;
  for (const SinkSpec& sink : graph.sinks) names.emplace_back(track++, sink.name);
  return names;
}

/// The graph as the command line wants it; everything that is wrong with it is told before a file is made.
struct PreparedGraph {
  GivenGraph given;
  BackendChoice backend;
};
PreparedGraph prepared_graph(const RunArguments& arguments, const Catalog& catalog) {
  GivenGraph given = load_given_graph(arguments.graph, catalog, forced_backend(arguments.backend));
  GraphSpec& graph = given.graph;
  arguments.frames.set(graph.source);
  if (arguments.preview) add_preview(graph, catalog);
  BackendChoice backend = choose_backend(graph.settings.backend, graph);
  make_output_folder(arguments.graph.output);
  keep_made_graph(given, arguments.graph, arguments.quiet ? Announcement::Quiet : Announcement::Said);
  return {std::move(given), std::move(backend)};
}

/// Runs, and writes the account however the run ends.
RunReport run_and_account(Runner& runner, const WatchOptions& options) {
  RunReport report;
  try {
    report = run_watched(runner, options);
  } catch (...) {
    options.account();
    throw;
  }
  options.account();
  return report;
}

/// The closing message. What went wrong is said in any case.
void tell(const RunReport& report, const OutputRegister& files, bool quiet) {
  if (!quiet) {
    print(report_text(report));
    say_replaced(files);
    return;
  }
  for (const SourceFault& fault : report.source_faults) warn(fault.sentence);
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) say(fmt::format("sink '{}': {}", sink.name, sink.error));
}

int run_graph(const RunArguments& arguments, const Catalog& catalog) {
  auto [given, backend] = prepared_graph(arguments, catalog);
  GraphSpec& graph = given.graph;
  const auto [source, notice] = config::open_source(graph);
  if (!notice.empty()) say("note: " + notice);
  const Sinks sinks = make_sinks(graph);
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  OutputRegister files = command_files();
  files.add_input(given.name, "the graph");
  files.add_inputs(graph, *source);
  OutputFile report_file = begin_file(files, arguments, arguments.report, "--report");
  OutputFile trace_file = begin_file(files, arguments, arguments.trace, "--trace");
  FrameLog failures("failed"), warnings("used with a warning");
  EmptyClasses empty(graph, backend.backend);
  const auto trace = arguments.trace.empty() ? nullptr : std::make_unique<Trace>(1U << 20);
  Runner runner(
      graph, *source, sinks.bindings,
      {.backend = backend,
       .max_frames = arguments.frames.frames,
       .output_root = arguments.graph.output,
       .outputs = &files,
       .probe_every = trace ? kEveryFrame : cheap_probe_every(backend.backend),
       .text = text.get(),
       .trace = trace.get(),
       .on_failure = [&](const FrameFailure& failure) { failures(failure.frame, failure.reason); },
       .on_warning = [&](std::uint64_t frame, const std::string& warning) { warnings(frame, warning); },
       .on_result = [&](const PlannedGraph& result,
                        const std::vector<ClassCounts>& counts) { empty.look(result, counts); },
       .also_read = empty.reads()});
  RunReport report =
      run_and_account(runner, {.quiet = arguments.quiet,
                               .live = source->format().live,
                               .expected = arguments.frames.expected(source->format()),
                               .device_timeout_ms = graph.settings.device_timeout_ms,
                               .account = [&, &given = given] {
                                 if (!report_file.is_open()) return;
                                 RunReport account = runner.report();
                                 empty.tell(account.classes);
                                 finish_file(report_file, report_json(account, given.name, given.text));
                               }});
  if (trace) finish_file(trace_file, trace->to_json(track_names(graph)));
  empty.tell(report.classes);
  tell(report, files, arguments.quiet);
  return exit_code(report, InterruptGuard::requested());
}

/// An output that was waited for when the signal came is no fault of its own.
int run_until_signal(const RunArguments& arguments, const Catalog& catalog) {
  try {
    return run_graph(arguments, catalog);
  } catch (const Error& error) {
    const int signal = InterruptGuard::requested();
    if (signal == 0 || error.code() != ExitCode::CannotCreate) throw;
    say(error.what());
    return 128 + signal;
  }
}

}  // namespace

void add_run_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "Run a graph: frames or class maps in, contours out");
  add_graph_arguments(*command, arguments->graph);
  add_frame_choice(*command, arguments->frames);
  add_graph_backend(*command, arguments->backend);
  command
      ->add_option("--report", arguments->report,
                   "Write the run report as JSON, in the output folder; - is standard output")
      ->type_name("FILE.json");
  command
      ->add_option("--trace", arguments->trace, "Write a Chrome/Perfetto trace as JSON, in the output folder")
      ->type_name("FILE.json");
  command->add_flag("--preview", arguments->preview, "Show the result in a window");
  command->add_flag("--quiet", arguments->quiet, "No progress and no closing message");
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return run_until_signal(*arguments, catalog); };
  });
}

}  // namespace contorno
