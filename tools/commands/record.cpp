// contorno record: what a source delivers, kept as a dataset.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "base/error.h"
#include "config/describe.h"
#include "config/load.h"
#include "config/source_text.h"
#include "config/yaml_text.h"
#include "pipeline/run/runner.h"
#include "tools/commands/commands.h"
#include "tools/commands/frame_choice.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/number_options.h"
#include "tools/frame_log.h"
#include "tools/interrupt.h"
#include "tools/latency/quantity.h"
#include "tools/learn/first_graph.h"
#include "tools/learn/frames.h"
#include "tools/replay/limited_source.h"
#include "tools/replay/recording.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

struct RecordArguments {
  GraphArguments graph;  // `graph` is the source or the graph that has it, `output` the folder
  std::string camera;
  FrameChoice frames;
  std::string duration;  ///< empty: to the end
  int compression = 1;
  bool append = false, quiet = false;
};

/// The type of source that reads `argument`; empty: it is a graph.
std::string source_for(const std::string& argument) {
  if (argument.starts_with("/dev/")) return "camera";
  switch (kind_of_input(argument)) {
    case InputKind::Graph:
      return {};
    case InputKind::Arrays:
      return "dataset";
    case InputKind::Pictures:
    case InputKind::Video:
      return example_source_name(argument);
  }
  throw InternalError("unknown kind of input");
}

/// The source alone: what a graph does with frames is no part of a recording.
GraphSpec source_graph(const RecordArguments& arguments, const Catalog& catalog) {
  const std::string& argument = arguments.graph.graph;
  config::LoadOptions options{
      .overrides = arguments.graph.overrides, .backend = Backend::Cpu, .output_root = arguments.graph.output};
  if (!arguments.graph.input.empty()) options.input = arguments.graph.input;
  const std::string type = source_for(argument);
  GraphSpec graph;
  if (type.empty()) {
    graph = config::load_graph(argument, catalog, options);
  } else {
    // A graph has a stage; it is left out again below.
    const std::string text =
        fmt::format("source: {{type: {}, {}: {}}}\nstages: [preprocess]\n", type,
                    config::source_called(catalog, type).input_param, config::yaml_text(argument));
    graph = config::load_graph_text(text, fmt::format("<source for {}>", printable_sentence(argument)),
                                    catalog, options);
  }
  arguments.frames.set(graph.source);
  graph.nodes.clear();
  graph.sinks.clear();
  return graph;
}

/// The sinks of a recording: of frames and of maps, as the source has them.
struct RecordingSinks {
  std::vector<std::unique_ptr<Sink>> owned;
  std::vector<SinkBinding> bindings;

  RecordingSinks(Recording& recording, const StreamFormat& format) {
    if (format.frame) add(recording, Recording::Part::Frame, "frames", Origin::kFrame);
    if (format.maps) add(recording, Recording::Part::Maps, "maps", Origin::kMaps);
  }

 private:
  void add(Recording& recording, Recording::Part part, const char* name, int port) {
    owned.push_back(recording.make_sink(part));
    bindings.push_back({.name = name, .sink = owned.back().get(), .input = {Origin::kSource, port}});
  }
};

/// How a graph reads the recording.
std::string reading_line(const std::string& folder, const StreamFormat& format) {
  const std::string location = config::yaml_text(Recording::manifest_in(folder).string());
  if (!format.maps) return fmt::format("source: {{type: dataset, location: {}}}", location);
  return fmt::format("source: {{type: dataset, location: {}, layout: {}}}", location,
                     format.maps->layout == Layout::Planar ? "chw" : "hwc");
}

/// What is added to a recording has to be of the same kind, or no graph could read both. Throws
/// Error(CannotCreate).
void check_kind(const std::string& folder, const StreamFormat& format, const Catalog& catalog) {
  const std::filesystem::path manifest = Recording::manifest_in(folder);
  if (!std::filesystem::exists(manifest)) return;
  const SourceType& type = config::source_called(catalog, "dataset");
  ParamSet params(type.params);
  params.set(type.input_param, manifest.string());
  params.set("layout",
             std::string(format.maps && format.maps->layout == Layout::Interleaved ? "hwc" : "chw"));
  const StreamFormat recorded = type.make(params)->format();
  const auto frame_text = [](const StreamFormat& stream) {
    return stream.frame ? fmt::format("frames of {} x {}", stream.frame->width, stream.frame->height)
                        : std::string("no frames");
  };
  const auto maps_text = [](const StreamFormat& stream) {
    return stream.maps ? "maps of " + describe(*stream.maps) : std::string("no maps");
  };
  const auto check_same = [&](const std::string& before, const std::string& now) {
    if (before != now)
      throw Error(
          ExitCode::CannotCreate,
          fmt::format("{}: the recording has {}, the source {}; give another folder", folder, before, now));
  };
  check_same(frame_text(recorded), frame_text(format));
  check_same(maps_text(recorded), maps_text(format));
}

int exit_code_of(const RunReport& report) {
  // A sink that broke is the reason for which the run has ended.
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) return static_cast<int>(sink.code);
  if (const int signal = InterruptGuard::requested(); signal != 0) return 128 + signal;
  const bool whole = report.frames.failed == 0 && report.source_faults.empty();
  return static_cast<int>(whole ? ExitCode::Ok : ExitCode::FramesFailed);
}

/// The time from frame to frame; a tenth of a second where nobody knows.
std::int64_t interval_of(const StreamFormat& format) {
  if (format.rate_numerator <= 0) return 100'000'000;
  return std::int64_t{1'000'000'000} * format.rate_denominator / format.rate_numerator;
}

int record(const RecordArguments& arguments, const Catalog& catalog) {
  GraphSpec graph = source_graph(arguments, catalog);
  const std::string& folder = arguments.graph.output;
  auto [source, notice] = config::open_source(graph);
  if (!notice.empty()) say("note: " + notice);
  if (!arguments.duration.empty()) {
    const double duration_ns = latency::nanoseconds_of_option("--duration", arguments.duration);
    source = make_limited(std::move(source), static_cast<std::int64_t>(duration_ns));
  }
  make_output_folder(folder);
  if (arguments.append) check_kind(folder, source->format(), catalog);
  OutputRegister files = command_files();
  files.add_inputs(graph, *source);
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1U, 4U));
  Recording recording(files, {.folder = folder,
                              .camera = arguments.camera,
                              .compression = arguments.compression,
                              .threads = threads,
                              .append = arguments.append,
                              .interval_ns = interval_of(source->format())});
  const RecordingSinks sinks(recording, source->format());
  FrameLog failures("failed"), warnings("used with a warning");
  Runner runner(
      graph, *source, sinks.bindings,
      {.backend = choose_backend(Backend::Cpu, graph),
       .max_frames = arguments.frames.frames,
       .output_root = folder,
       .outputs = &files,
       .on_failure = [&](const FrameFailure& failure) { failures(failure.frame, failure.reason); },
       .on_warning = [&](std::uint64_t frame, const std::string& warning) { warnings(frame, warning); }});
  const RunReport report = run_watched(runner, {.quiet = arguments.quiet,
                                                .live = source->format().live,
                                                .expected = arguments.frames.expected(source->format()),
                                                .device_timeout_ms = 0,
                                                .account = [] {}});
  for (const SourceFault& fault : report.source_faults) warn(fault.sentence);
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) say(fmt::format("{}: {}", sink.name, sink.error));
  if (arguments.quiet) return exit_code_of(report);
  print("{}: {} frames recorded, {} dropped, {} failed{}\n", folder, recording.frames(),
        report.frames.dropped(), report.frames.failed,
        recording.frames_before() > 0
            ? fmt::format("; {} with those before", recording.frames() + recording.frames_before())
            : "");
  if (recording.frames() > 0) print("{}\n", reading_line(folder, source->format()));
  return exit_code_of(report);
}

}  // namespace

void add_record_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<RecordArguments>();
  CLI::App* command =
      app.add_subcommand("record", "Record the frames and maps of a source as a dataset to replay");
  command
      ->add_option("SOURCE", arguments->graph.graph,
                   "Graph (YAML), of which the source is recorded; or a camera (/dev/video0), an address, a "
                   "video, picture, folder or array")
      ->type_name("FILE")
      ->required();
  command->add_option("DIR", arguments->graph.output, "Folder for the recording")
      ->type_name("FOLDER")
      ->required();
  command
      ->add_option("--input", arguments->graph.input,
                   "What the source reads, instead of the graph's (file, folder, URI, device)")
      ->type_name("FILE");
  add_graph_overrides(*command, arguments->graph);
  add_frame_choice(*command, arguments->frames);
  command
      ->add_option("--duration", arguments->duration,
                   "Stop after so much time of the stream, with its unit: 30s, 2min")
      ->type_name("TIME");
  command->add_flag("--append", arguments->append,
                    "Go on with the recording that DIR has: numbers and times follow its own");
  command->add_option("--camera", arguments->camera, "Name of the camera for the manifest");
  add_whole_number(*command, "--compression", arguments->compression, 0, 9,
                   "Of PNG: 0 stores, 9 is smallest and slowest");
  command->add_flag("--quiet", arguments->quiet, "No progress and no closing message");
  command->footer("Ctrl-C ends a recording; what it has so far can be read.");
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return record(*arguments, catalog); };
  });
}

}  // namespace contorno
