// contorno run: a graph from YAML, a source, sinks, a progress line, a report.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "config/describe.h"
#include "config/load.h"
#include "pipeline/run/fleet.h"
#include "tools/commands/commands.h"
#include "tools/commands/frame_choice.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/map_options.h"
#include "tools/commands/number_options.h"
#include "tools/commands/run_cameras.h"
#include "tools/commands/run_service.h"
#include "tools/fleet_report.h"
#include "tools/interrupt.h"
#include "tools/report.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

/// Stands for the name of a camera, in a path of the command line as in those of sinks.
constexpr std::string_view kCameraWord = "{camera}";

struct RunArguments {
  GraphArguments graph;
  std::string report, trace;
  std::string backend;
  FrameChoice frames;
  bool preview = false, quiet = false;
  std::string log;  ///< empty: as standard error asks for
};

constexpr std::array<std::pair<const char*, LogForm>, 3> kLogForms{
    {{"text", LogForm::Text}, {"events", LogForm::Events}, {"json", LogForm::Json}}};

void set_log(const std::string& form) {
  for (const auto& [name, value] : kLogForms)
    if (form == name) set_log_form(value);
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

/// Opens the device that a camera wants. Where there is none, the camera runs on the CPU, if the graph wants
/// that.
void open_device(CameraSpec& camera, Fallback fallback) {
  try {
    choose_backend(camera.graph.settings.backend, camera.graph);
  } catch (const Error& error) {
    if (error.code() != ExitCode::Unavailable || fallback != Fallback::Cpu) throw;
    camera.fallback = error.what();
    camera.graph.settings.backend = Backend::Cpu;
    contorno::tell({.severity = Severity::Warning,
                    .camera = camera.name,
                    .name = "fallback",
                    .fields = {{"backend", "cpu"}, {"reason", camera.fallback}},
                    .sentence = fmt::format("{}{}on the CPU, as 'fallback' says: {}", camera.name,
                                            camera.name.empty() ? "" : ": ", camera.fallback)});
  }
}

/// Completes a graph as the command line wants it, and opens the device that it is to run on.
void prepare(GivenFleet& given, const RunArguments& arguments, const Catalog& catalog) {
  const bool is_named = given.fleet.is_named();
  if (is_named && arguments.preview)
    throw Error(
        ExitCode::BadConfig,
        "--preview shows one source, and the graph has 'sources': use a sink preview in a graph with one");
  if (is_named && !arguments.trace.empty() && arguments.trace.find(kCameraWord) == std::string::npos)
    throw Error(ExitCode::BadOption,
                fmt::format("--trace is {}, and each camera has a trace of its own: put {} into the path",
                            arguments.trace, kCameraWord));
  for (CameraSpec& camera : given.fleet.cameras) {
    arguments.frames.set(camera.graph.source);
    if (arguments.preview) add_preview(camera.graph, catalog);
    open_device(camera, given.fleet.live.fallback);
  }
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

/// A graph with `source:`: a fleet of one, which is opened and planned before anything else happens.
int run_one(const RunArguments& arguments, GivenFleet given, RunService& service) {
  OutputRegister files = command_files();
  files.add_input(given.name, "the graph");
  OutputFile report_file, trace_file;
  RunCameras cameras(given.fleet,
                     {.output = arguments.graph.output,
                      .frames = arguments.frames.frames,
                      .has_trace = !arguments.trace.empty(),
                      .counts_latency = service.has_pages()},
                     files);
  Fleet fleet(std::move(given.fleet), cameras.hooks([&](const GraphSpec& bound, Source& source) {
    files.add_inputs(bound, source);
    report_file = begin_file(files, arguments, arguments.report, "--report");
    trace_file = begin_file(files, arguments, arguments.trace, "--trace");
  }));
  fleet.prepare();
  const Camera& camera = fleet.camera(0);
  const auto account = [&] {
    if (!report_file.is_open()) return;
    RunReport report = camera.runner()->report();
    cameras.complete(0, report);
    finish_file(report_file, report_json(report, given.name, given.text));
  };
  const auto shown = service.show(fleet, cameras);
  watch_fleet(fleet, service.watched({.quiet = arguments.quiet,
                                      .live = camera.is_live(),
                                      .expected = arguments.frames.expected(camera.expected()),
                                      .device_timeout_ms = camera.spec().graph.settings.device_timeout_ms,
                                      .account = account}));
  account();
  RunReport report = fleet.take(0);
  if (const Trace* trace = cameras.trace(0))
    finish_file(trace_file, trace->to_json(track_names(camera.spec().graph)));
  cameras.complete(0, report);
  tell(report, files, arguments.quiet);
  return exit_code(report, InterruptGuard::requested());
}

/// The first that is not well, in the order of how bad it is: a camera that broke, a required one that never
/// came, a sink or frames that failed.
int exit_code(const std::vector<CameraOutcome>& cameras, const Camera* missing, int signal) {
  ExitCode worst = ExitCode::Ok;
  for (const CameraOutcome& camera : cameras) {
    // An output that was waited for when the signal came is no fault of its own.
    if (signal != 0 && camera.code == ExitCode::CannotCreate) continue;
    if (camera.code == ExitCode::Internal || (camera.code != ExitCode::Ok && worst == ExitCode::Ok))
      worst = camera.code;
  }
  if (worst != ExitCode::Ok) return static_cast<int>(worst);
  if (missing != nullptr) return static_cast<int>(ExitCode::MissingInput);
  int code = 0;
  for (const CameraOutcome& camera : cameras)
    if (const int own = exit_code(camera.report, signal);
        code == 0 || code == static_cast<int>(ExitCode::FramesFailed))
      code = own != 0 ? own : code;
  return code;
}

/// The shortest time that a camera allows a frame on the device; 0: none of them has a limit.
double shortest_timeout(const FleetSpec& fleet) {
  double shortest = 0;
  for (const CameraSpec& camera : fleet.cameras)
    if (const double own = camera.graph.settings.device_timeout_ms; own > 0)
      shortest = shortest > 0 ? std::min(shortest, own) : own;
  return shortest;
}

/// A graph with `sources:`.
class NamedRun {
 public:
  NamedRun(const RunArguments& arguments, GivenFleet given, RunService& service)
      : arguments_(arguments),
        service_(service),
        name_(std::move(given.name)),
        text_(std::move(given.text)),
        files_(command_files()),
        device_timeout_ms_(shortest_timeout(given.fleet)),
        cameras_(given.fleet,
                 {.output = arguments.graph.output,
                  .frames = arguments.frames.frames,
                  .has_trace = !arguments.trace.empty(),
                  .counts_latency = service.has_pages()},
                 files_) {
    files_.add_input(name_, "the graph");
    for (const CameraSpec& camera : given.fleet.cameras)
      files_.add_inputs(camera.graph.source.params, fmt::format("the source '{}'", camera.name));
    report_file_ = begin_file(files_, arguments, arguments.report, "--report");
    for (const CameraSpec& camera : given.fleet.cameras) begin_trace(camera.name);
    fleet_.emplace(std::move(given.fleet), cameras_.hooks([this](const GraphSpec& bound, Source& source) {
      files_.add_inputs(bound, source);
    }));
  }

  int run() {
    const auto shown = service_.show(*fleet_, cameras_);
    watch_fleet(*fleet_,
                service_.watched({.quiet = arguments_.quiet,
                                  .device_timeout_ms = device_timeout_ms_,
                                  .account = [this] { account(camera_reports(*fleet_, cameras_, false)); }}));
    const std::vector<CameraOutcome> reports = camera_reports(*fleet_, cameras_, true);
    account(reports);
    for (std::size_t i = 0; i < traces_.size(); ++i)
      finish_file(traces_[i], cameras_.trace(i)->to_json(track_names(fleet_->camera(i).spec().graph)));
    tell(reports);
    return exit_code(reports, fleet_->missing(), InterruptGuard::requested());
  }

 private:
  void begin_trace(const std::string& camera) {
    if (arguments_.trace.empty()) return;
    std::string path = arguments_.trace;
    for (std::size_t at = 0; (at = path.find(kCameraWord, at)) != std::string::npos;)
      path.replace(at, kCameraWord.size(), camera);
    traces_.push_back(begin_file(files_, arguments_, path, fmt::format("--trace of camera '{}'", camera)));
  }
  void account(const std::vector<CameraOutcome>& reports) {
    if (report_file_.is_open()) finish_file(report_file_, fleet_report_json(reports, name_, text_));
  }
  void tell(const std::vector<CameraOutcome>& reports) {
    if (const Camera* missing = fleet_->missing())
      contorno::tell({.severity = Severity::Error,
                      .camera = missing->spec().name,
                      .name = "missing",
                      .fields = {{"required", "true"}},
                      .sentence = fmt::format("{}: it is required, and never came", missing->spec().name)});
    for (const CameraOutcome& camera : reports) {
      if (!camera.failure.empty())
        contorno::tell(
            {.severity = Severity::Error,
             .camera = camera.name,
             .name = "failed",
             .fields = {{"reason", camera.failure}, {"code", std::to_string(static_cast<int>(camera.code))}},
             .sentence = fmt::format("{}: {}", camera.name, camera.failure)});
      if (!arguments_.quiet) continue;
      for (const SourceFault& fault : camera.report.source_faults)
        warn(fmt::format("{}: {}", camera.name, fault.sentence));
      for (const SinkOutcome& sink : camera.report.sinks)
        if (!sink.error.empty()) say(fmt::format("{}: sink '{}': {}", camera.name, sink.name, sink.error));
    }
    if (arguments_.quiet) return;
    print(fleet_report_text(reports));
    say_replaced(files_);
  }

  const RunArguments& arguments_;
  RunService& service_;
  std::string name_, text_;
  OutputRegister files_;
  double device_timeout_ms_;
  RunCameras cameras_;
  OutputFile report_file_;
  std::vector<OutputFile> traces_;
  std::optional<Fleet> fleet_;  // last: its threads use the others
};

int run_prepared(const RunArguments& arguments, GivenFleet given, RunService& service) {
  if (!given.fleet.is_named()) return run_one(arguments, std::move(given), service);
  NamedRun run(arguments, std::move(given), service);
  const int code = run.run();
  if (openings_left() == 0) return code;
  service.note_end(code);
  // A driver or the network still holds the thread that opens a camera, which destructors would meet.
  finish_log();
  finish_output();
  std::fflush(nullptr);
  std::_Exit(code);
}

/// Everything that is wrong with the graph is told before a file is made.
int run_graph(const RunArguments& arguments, const Catalog& catalog) {
  RunService service;
  GivenFleet given = load_given_fleet(arguments.graph, catalog, forced_backend(arguments.backend));
  if (!service.wait_for_device()) return 128 + InterruptGuard::requested();
  try {
    prepare(given, arguments, catalog);
    tell_graph_warnings(given.fleet);
    service.listen(given.fleet.ops);
    make_output_folder(arguments.graph.output);
    keep_made_graph(given, arguments.graph, arguments.quiet ? Announcement::Quiet : Announcement::Said);
    const int code = run_prepared(arguments, std::move(given), service);
    service.note_end(code);
    return code;
  } catch (const Error& error) {
    service.note_end(static_cast<int>(error.code()));
    throw;
  }
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
  command
      ->add_option(
          "--log", arguments->log,
          "What is said while it runs: text, events (CAMERA EVENT key=value) or json, an object a line; "
          "without it events under systemd's journal, else text")
      ->check(CLI::IsMember({"text", "events", "json"}));
  command->callback([arguments, &catalog, &action] {
    set_log(arguments->log);
    action = [arguments, &catalog] { return run_until_signal(*arguments, catalog); };
  });
}

}  // namespace contorno
