// contorno replay: the results of a graph on a dataset, recorded, or compared with a record.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "config/load.h"
#include "cuda/error.h"
#include "pipeline/run/runner.h"
#include "plugins/text/pango.h"
#include "tools/commands/commands.h"
#include "tools/commands/graph_argument.h"
#include "tools/commands/number_options.h"
#include "tools/interrupt.h"
#include "tools/replay/frames.h"
#include "tools/replay/page.h"
#include "tools/replay/record.h"
#include "tools/replay/summary.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/text_file.h"
#include "tools/transient_folder.h"

namespace contorno {
namespace {

struct ReplayArguments {
  GraphArguments graph;  // `output` is the folder that results are written to
  std::string backend, record, expect, keep, shard = "0/1", report, html;
  double tolerance = 0;
  std::uint64_t start = 0, stop = 0, worst = 12;
  bool resume = false, real_time = false, quiet = false;
};

GraphSpec loaded_graph(const ReplayArguments& arguments, const Catalog& catalog) {
  GraphSpec graph = config::load_graph(
      arguments.graph.graph, catalog,
      {.overrides = arguments.graph.overrides,
       .input = arguments.graph.input.empty() ? std::nullopt : std::optional(arguments.graph.input),
       .backend = forced_backend(arguments.backend),
       .output_root = std::nullopt});
  // Every frame is part of a record, whenever it comes.
  graph.settings.on_full = OnFull::Wait;
  graph.settings.deadline_ms = 0;
  return graph;
}

void write_failure(OutputRegister& files, const std::string& folder, std::uint64_t place,
                   const std::string& reason) {
  OutputFile file = files.open(std::filesystem::path(folder) / failure_file(place), "the record of failures");
  file.write(reason + "\n");
  file.complete();
}

/// Computes the frames of `selection` into `folder`.
RunReport compute(GraphSpec& graph, Source& source, const FrameSelection& selection,
                  const std::vector<RecordedValue>& values, const std::string& folder,
                  const ReplayArguments& arguments) {
  std::vector<std::unique_ptr<Sink>> sinks;
  std::vector<SinkBinding> bindings;
  for (const RecordedValue& value : values) {
    sinks.push_back(make_record_sink(value, selection));
    bindings.push_back({.name = value.name, .sink = sinks.back().get(), .input = value.origin});
  }
  OutputRegister files = command_files();
  files.add_input(arguments.graph.graph, "the graph");
  files.add_inputs(graph, source);
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  const auto expected = static_cast<std::int64_t>(selection.count());
  const auto write = [&](const FrameFailure& failure) {
    const std::uint64_t place = selection.place_of(failure.frame);
    write_failure(files, folder, place, failure.reason);
    forget_values(folder, place, values);
  };
  Runner runner(graph, source, bindings,
                {.backend = choose_backend(graph.settings.backend, graph),
                 .max_frames = selection.count(),
                 .output_root = folder,
                 .outputs = &files,
                 .text = text.get(),
                 .on_failure = write});
  return run_watched(runner, {.quiet = arguments.quiet,
                              .expected = expected > 0 ? expected : source.format().frame_count,
                              .device_timeout_ms = graph.settings.device_timeout_ms,
                              .account = [] {}});
}

/// A record that lacks frames is no record: the run must have come to its end.
void check_whole(const RunReport& report) {
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) throw Error(sink.code, fmt::format("{}: {}", sink.name, sink.error));
  for (const SourceFault& fault : report.source_faults) warn(fault.sentence);
}

int ended_by(int signal) {
  say("ended early; the frames that are complete stay in the record, and --resume goes on with the next one");
  return 128 + signal;
}

struct Replay {
  GraphSpec graph;
  std::unique_ptr<Source> source;  ///< null: no frame is left to compute
  FrameSelection frames;
  std::vector<RecordedValue> values;
};

/// Leaves out what is recorded already; frames behind the first gap are computed again.
void leave_out_recorded(Replay& replay, const std::filesystem::path& record) {
  FrameSelection& frames = replay.frames;
  while ((!frames.stop || frames.first < *frames.stop) && has_frame(record, frames.first, replay.values))
    frames.first += frames.step;
}

/// Whether something is left to compute. Looks at the dataset as the graph alone takes it: what is recorded
/// is settled by what the source delivers, and where nothing is left no source could be opened.
bool has_work(const ReplayArguments& arguments, Replay& replay) {
  GraphSpec whole = replay.graph;
  const auto [source, notice] = config::open_source(whole);
  replay.values = recorded_values(whole);
  if (arguments.resume) leave_out_recorded(replay, arguments.record);
  const FrameSelection& frames = replay.frames;
  if (frames.stop && frames.first >= *frames.stop) return false;
  const std::int64_t count = source->format().frame_count;
  return count < 0 ||
         frames.first < source_number(whole.source, "start", 0) +
                            static_cast<std::uint64_t>(count) * source_number(whole.source, "every", 1);
}

/// Lets the source deliver those frames alone.
void set_frames(SourceSpec& source, const FrameSelection& frames, bool real_time) {
  if (frames.first > 0) set_source_param(source, "start", static_cast<std::int64_t>(frames.first));
  if (frames.step > 1) set_source_param(source, "every", static_cast<std::int64_t>(frames.step));
  if (real_time) set_source_param(source, "live", true);
}

Replay prepared(const ReplayArguments& arguments, const Catalog& catalog) {
  Replay replay{.graph = loaded_graph(arguments, catalog), .source = nullptr, .frames = {}, .values = {}};
  replay.frames =
      select_frames(replay.graph.source, arguments.start, arguments.stop, shard_of(arguments.shard));
  if (!has_work(arguments, replay)) return replay;
  set_frames(replay.graph.source, replay.frames, arguments.real_time);
  auto [source, notice] = config::open_source(replay.graph);
  if (!notice.empty()) say("note: " + notice);
  replay.source = std::move(source);
  return replay;
}

RunReport computed(Replay& replay, const std::string& folder, const ReplayArguments& arguments) {
  if (!replay.source) return {};
  RunReport report = compute(replay.graph, *replay.source, replay.frames, replay.values, folder, arguments);
  check_whole(report);
  return report;
}

int record(const ReplayArguments& arguments, const Catalog& catalog) {
  Replay replay = prepared(arguments, catalog);
  make_output_folder(arguments.record);
  const RunReport report = computed(replay, arguments.record, arguments);
  if (const int signal = InterruptGuard::requested(); signal != 0) return ended_by(signal);
  if (!arguments.quiet)
    print("{}: {} frames recorded, {} failed\n", arguments.record, report.frames.delivered,
          report.frames.failed);
  return static_cast<int>(report.source_faults.empty() ? ExitCode::Ok : ExitCode::FramesFailed);
}

/// The places that either record has, of those that this run takes.
std::vector<std::uint64_t> places_to_compare(const std::string& before, const std::string& after,
                                             const FrameSelection& selection) {
  std::vector<std::uint64_t> places = recorded_places(before);
  if (std::filesystem::exists(std::filesystem::path(after) / "frames")) {
    const std::vector<std::uint64_t> more = recorded_places(after);
    places.insert(places.end(), more.begin(), more.end());
  }
  std::sort(places.begin(), places.end());
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::erase_if(places, [&](std::uint64_t place) { return !selection.takes(place); });
  return places;
}

int expect(const ReplayArguments& arguments, const Catalog& catalog) {
  (void)recorded_places(arguments.expect);  // that there is a record is seen before anything is computed
  Replay replay = prepared(arguments, catalog);
  std::optional<TransientFolder> temporary;
  if (arguments.keep.empty())
    temporary.emplace("replay");
  else
    make_output_folder(arguments.keep);
  const std::string& folder = temporary ? temporary->path() : arguments.keep;
  computed(replay, folder, arguments);
  if (const int signal = InterruptGuard::requested(); signal != 0) return 128 + signal;
  const std::vector<std::uint64_t> places = places_to_compare(arguments.expect, folder, replay.frames);
  if (places.empty())
    throw Error(ExitCode::BadData, fmt::format("{}: the record has none of the frames that this run takes",
                                               printable(arguments.expect)));
  const RecordDifference difference =
      compare_records(arguments.expect, folder, places, replay.values, arguments.tolerance);
  if (!arguments.report.empty())
    write_text_file(arguments.report, difference_json(difference, arguments.tolerance));
  if (!arguments.html.empty())
    write_text_file(arguments.html, difference_page({.before = arguments.expect,
                                                     .after = folder,
                                                     .values = replay.values,
                                                     .tolerance = arguments.tolerance,
                                                     .most = arguments.worst},
                                                    difference));
  constexpr int kDifferent = 1;
  const bool different = difference.count(FrameVerdict::Different) > 0;
  if (!arguments.quiet || different) print(difference_text(difference, arguments.tolerance, arguments.worst));
  return different ? kDifferent : static_cast<int>(ExitCode::Ok);
}

int replay(const ReplayArguments& arguments, const Catalog& catalog) {
  if (arguments.record.empty() == arguments.expect.empty())
    throw Error(ExitCode::Usage,
                "give either --record DIR, to keep results, or --expect DIR, to compare with kept ones");
  if (arguments.resume && arguments.record.empty())
    throw Error(ExitCode::Usage, "--resume goes with --record");
  return arguments.record.empty() ? expect(arguments, catalog) : record(arguments, catalog);
}

}  // namespace

void add_replay_command(CLI::App& app, const Catalog& catalog, Action& action) {
  auto arguments = std::make_shared<ReplayArguments>();
  CLI::App* command = app.add_subcommand(
      "replay", "Record the results of a graph on a dataset, or compare them with a record");
  command->add_option("GRAPH", arguments->graph.graph, "Graph as YAML; what its sinks take is recorded")
      ->required();
  command->add_option("DATASET", arguments->graph.input, "Replaces the input of the graph's source");
  command->add_option("--record", arguments->record, "Folder to keep the results in");
  command->add_option("--expect", arguments->expect, "Folder of a record to compare the results with");
  command->add_option("--keep", arguments->keep, "With --expect: folder to keep the new results in");
  add_number(*command, "--tolerance", arguments->tolerance, 0, 1e9,
             "px that a contour may lie away from the recorded one; 0: everything must be equal");
  const auto add_count = [&](const char* name, std::uint64_t& value, const char* sentence) {
    add_whole_number(*command, name, 0, kUnbounded, sentence,
                     [&value](std::int64_t number) { value = static_cast<std::uint64_t>(number); });
  };
  add_count("--start", arguments->start, "Leave out so many frames at the beginning");
  add_count("--stop", arguments->stop, "Stop before this frame; 0 = at the end");
  command->add_option(
      "--shard", arguments->shard,
      "PART/PARTS, as 0/8: every 8th frame from the first; parts share no frame and leave none out");
  command->add_flag("--resume", arguments->resume,
                    "With --record: go on behind the frames that the folder has");
  command->add_flag("--real-time", arguments->real_time,
                    "Frames come at the rate they were recorded at; none is dropped");
  command->add_option("--report", arguments->report,
                      "With --expect: write the differences as JSON; - is standard output");
  command->add_option("--html", arguments->html, "With --expect: write a page that shows the worst frames");
  add_count("--worst", arguments->worst, "How many of the worst frames are shown; 12 unless given");
  add_graph_overrides(*command, arguments->graph);
  add_graph_backend(*command, arguments->backend);
  command->add_flag("--quiet", arguments->quiet, "No progress, and no message where nothing differs");
  command->footer("Exit code 1: something differs by more than the tolerance.");
  command->callback([arguments, &catalog, &action] {
    action = [arguments, &catalog] { return replay(*arguments, catalog); };
  });
}

}  // namespace contorno
