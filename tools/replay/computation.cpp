#include "tools/replay/computation.h"

#include <fmt/format.h>

#include "base/error.h"
#include "config/load.h"
#include "plugins/files/shared/frame_files.h"
#include "plugins/text/pango.h"
#include "tools/replay/paced_source.h"
#include "tools/run_watch.h"
#include "tools/say.h"
#include "tools/source_param.h"
#include "tools/text_file.h"

namespace contorno {
namespace {

void write_failure(FrameFiles& failures, std::uint64_t place, const std::string& reason) {
  FrameInfo placed;
  placed.number = place;
  OutputFile file = failures.begin(placed);
  file.write(reason + "\n");
  file.complete();
}

/// A record that lacks frames is no record: the run must have come to its end.
void check_whole(const RunReport& report) {
  for (const SinkOutcome& sink : report.sinks)
    if (!sink.error.empty()) throw Error(sink.code, fmt::format("{}: {}", sink.name, sink.error));
  for (const SourceFault& fault : report.source_faults) warn(fault.sentence);
}

/// Leaves out what is recorded already; frames behind the first gap are computed again.
void leave_out_recorded(Replay& replay, const std::filesystem::path& record) {
  FrameSelection& frames = replay.frames;
  while ((!frames.stop || frames.first < *frames.stop) && has_frame(record, frames.first, replay.values))
    frames.first += frames.step;
}

/// Whether something is left to compute. Looks at the dataset as the graph alone takes it: what is recorded
/// is settled by what the source delivers, and where nothing is left no source could be opened.
bool has_work(Replay& replay, const ReplayOptions& options) {
  GraphSpec whole = replay.graph;
  const auto [source, notice] = config::open_source(whole);
  replay.values = recorded_values(whole);
  replay.given = whole;
  if (options.resume) leave_out_recorded(replay, *options.resume);
  const FrameSelection& frames = replay.frames;
  if (frames.stop && frames.first >= *frames.stop) return false;
  const std::int64_t count = source->format().frame_count;
  return count < 0 ||
         frames.first < source_number(whole.source, "start", 0) +
                            static_cast<std::uint64_t>(count) * source_number(whole.source, "every", 1);
}

/// Lets the source deliver those frames alone, and as fast as they are taken where something else paces them.
void set_frames(SourceSpec& source, const FrameSelection& frames, bool paced) {
  if (frames.first > 0) set_source_param(source, "start", static_cast<std::int64_t>(frames.first));
  if (frames.step > 1) set_source_param(source, "every", static_cast<std::int64_t>(frames.step));
  if (paced && source.type->params.find("live") != nullptr) source.params.set("live", false);
}

}  // namespace

Replay prepare_replay(GraphSpec graph, const ReplayOptions& options) {
  Replay replay{.graph = std::move(graph),
                .given = {},
                .whole = {},
                .frames = {},
                .values = {},
                .source = nullptr,
                .placements = {}};
  // Every frame is part of a record, whenever it comes.
  replay.graph.settings.on_full = OnFull::Wait;
  replay.graph.settings.deadline_ms = 0;
  replay.whole = select_frames(replay.graph.source, options.start, options.stop, options.shard);
  replay.frames = replay.whole;
  if (!has_work(replay, options)) return replay;
  set_frames(replay.graph.source, replay.frames, options.speed.has_value());
  auto [source, notice] = config::open_source(replay.graph);
  if (!notice.empty()) say("note: " + notice);
  replay.source = options.speed ? make_paced(std::move(source), *options.speed) : std::move(source);
  return replay;
}

RunReport compute_replay(Replay& replay, const std::string& folder, const ReplayOptions& options) {
  const std::unique_ptr<Source> source = std::move(replay.source);
  if (!source) return {};
  std::vector<std::unique_ptr<Sink>> sinks;
  std::vector<SinkBinding> bindings;
  for (const RecordedValue& value : replay.values) {
    sinks.push_back(make_record_sink(value, replay.frames, replay.placements[value.name]));
    bindings.push_back({.name = value.name, .sink = sinks.back().get(), .input = value.origin});
  }
  OutputRegister files = command_files();
  files.add_input(options.graph_file, "the graph");
  files.add_inputs(replay.graph, *source);
  FrameFiles failures(failure_pattern(), Completion::SharedSeries);
  SinkContext context;
  context.output_root = folder;
  context.owner = "the record of failures";
  context.outputs = &files;
  failures.open(context);
  const std::unique_ptr<TextRasteriser> text = make_pango_text();
  const auto expected = static_cast<std::int64_t>(replay.frames.count());
  const auto write = [&](const FrameFailure& failure) {
    const std::uint64_t place = replay.frames.place_of(failure.frame);
    write_failure(failures, place, failure.reason);
    forget_values(folder, place, replay.values);
  };
  Runner runner(replay.graph, *source, bindings,
                {.backend = choose_backend(replay.graph.settings.backend, replay.graph),
                 .max_frames = replay.frames.count(),
                 .output_root = folder,
                 .outputs = &files,
                 .text = text.get(),
                 .on_failure = write});
  RunReport report = run_watched(runner, {.quiet = options.quiet,
                                          .expected = expected > 0 ? expected : source->format().frame_count,
                                          .device_timeout_ms = replay.graph.settings.device_timeout_ms,
                                          .account = [] {}});
  check_whole(report);
  return report;
}

}  // namespace contorno
