#include "tools/latency/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "plugins/media/module.h"
#include "tools/interrupt.h"
#include "tools/latency/measured.h"
#include "tools/latency/owed.h"
#include "tools/latency/quantity.h"
#include "tools/latency/resources.h"
#include "tools/progress.h"
#include "tools/say.h"

namespace contorno::latency {
namespace {

/// When each frame, by its presentation time, was at one place for the first time.
using Times = std::unordered_map<std::int64_t, std::int64_t>;

Times times_of(const PassedElement& place) {
  Times times;
  for (const Passing& one : place.passings) times.emplace(one.pts_ns, one.at_ns);
  return times;
}

/// The first of those that have the same time: a frame is known by it.
std::vector<Passing> unlike_times(const std::vector<Passing>& passings) {
  std::vector<Passing> frames;
  std::unordered_set<std::int64_t> known;
  for (const Passing& one : passings)
    if (known.insert(one.pts_ns).second) frames.push_back(one);
  return frames;
}

std::int64_t time_in(const Times& times, std::int64_t pts_ns) {
  const auto found = times.find(pts_ns);
  return found != times.end() ? found->second : 0;
}

/// How many of the frames that came to `contorno` were at this place.
double share_seen(const Times& place, const std::vector<Passing>& frames) {
  if (frames.empty()) return 0;
  const auto seen = std::count_if(frames.begin(), frames.end(),
                                  [&](const Passing& one) { return place.contains(one.pts_ns); });
  return static_cast<double>(seen) / static_cast<double>(frames.size());
}

/// The way from the first element on whose buffers have the frames' times: what a file gives has none.
std::vector<PassedElement> way_of_frames(const PipelineTimes& times) {
  constexpr double kNearlyAll = 0.9;
  const std::vector<Passing>& frames = times.way[times.way.size() - 2].passings;
  const auto first = std::find_if(times.way.begin(), times.way.end() - 1, [&](const PassedElement& place) {
    return share_seen(times_of(place), frames) >= kNearlyAll;
  });
  return {first, times.way.end()};
}

bool had_nothing(const PassedElement& sink) {
  return sink.passings.empty() && sink.kept.empty() && sink.held_since_ns == 0;
}

/// The sinks that frames come to; what sound or another stream goes to is none of them. Where nothing came to
/// any sink all frames were lost on the way.
std::vector<PassedElement> sinks_of_frames(const PipelineTimes& times) {
  if (std::all_of(times.sinks.begin(), times.sinks.end(), had_nothing)) return times.sinks;
  const std::vector<Passing>& results = times.way.back().passings;
  std::vector<PassedElement> sinks;
  for (const PassedElement& sink : times.sinks)
    if (share_seen(times_of(sink), results) > 0) sinks.push_back(sink);
  return sinks;
}

void fill_row(FrameRecords& records, std::size_t frame, std::int64_t due, std::int64_t arrived,
              std::int64_t pts, const std::vector<Times>& way, const std::vector<Times>& sinks) {
  const Columns& columns = records.columns();
  records.time(frame, Columns::kDue) = due;
  for (const std::size_t column :
       {Columns::kArrived, Columns::kLaunched, Columns::kStarted, Columns::kUploaded})
    records.time(frame, column) = arrived;
  std::int64_t before = arrived;
  for (std::size_t node = 0; node < way.size(); ++node) {
    const std::int64_t at = time_in(way[node], pts);
    // An element that names a frame by another time takes none for itself.
    before = records.time(frame, columns.part_end(node)) = at != 0 ? at : before;
  }
  const std::int64_t result = way.empty() ? 0 : time_in(way.back(), pts);
  records.time(frame, columns.downloaded()) = records.time(frame, columns.finished()) = result;
  bool complete = result != 0;
  for (std::size_t sink = 0; sink < sinks.size(); ++sink) {
    records.time(frame, columns.sink_start(sink)) = result;
    records.time(frame, columns.sink_end(sink)) = time_in(sinks[sink], pts);
    complete = complete && records.time(frame, columns.sink_end(sink)) != 0;
  }
  records.outcome(frame) = complete ? Outcome::Delivered : Outcome::RingFull;
}

/// The last time of a row; 0 where it has none.
std::int64_t last_time(const FrameRecords& records, std::size_t frame) {
  std::int64_t last = 0;
  for (std::size_t column = 0; column < records.columns().count(); ++column)
    last = std::max(last, records.time(frame, column));
  return last;
}

/// Frames behind the last one that came through were on their way when the pipeline was ended (`end` 0: when
/// the last of them was seen), if they were due within twice the longest time of a frame before that, and
/// less than the deadline. Earlier ones are lost.
void mark_under_way(FrameRecords& records, std::int64_t end, std::int64_t deadline_ns) {
  std::int64_t longest = 0;
  const bool is_known = end != 0;
  for (std::size_t frame = 0; frame < records.size(); ++frame) {
    const std::int64_t last = last_time(records, frame);
    if (!is_known) end = std::max(end, last);
    if (records.outcome(frame) == Outcome::Delivered)
      longest = std::max(longest, last - records.time(frame, Columns::kDue));
  }
  const std::int64_t most = std::min(2 * longest, deadline_ns);
  for (std::size_t frame = records.size(); frame > 0; --frame) {
    if (records.outcome(frame - 1) == Outcome::Delivered) return;
    if (records.time(frame - 1, Columns::kDue) + most <= end) return;
    records.outcome(frame - 1) = Outcome::UnderWay;
  }
}

std::vector<Row> traced_rows(const std::vector<TracedTime>& traced, std::int64_t from_ns) {
  std::map<std::string, std::vector<std::int64_t>> samples;
  for (const TracedTime& one : traced)
    if (one.at_ns >= from_ns) samples[one.what].push_back(one.time_ns);
  std::vector<Row> rows;
  for (auto& [what, times] : samples)
    rows.push_back({RowKind::Traced, Distribution("tracer: " + what, std::move(times))});
  return rows;
}

double mean_rate(const FrameRecords& records) {
  if (records.size() < 2) return 0;
  const std::int64_t all = records.time(records.size() - 1, Columns::kDue) - records.time(0, Columns::kDue);
  return all > 0 ? static_cast<double>(records.size() - 1) * 1e9 / static_cast<double>(all) : 0;
}

/// When the frames were due that the first element sent, and those that a live source owed beside them.
std::vector<DueFrame> due_frames(const PipelineTimes& times, const std::vector<PassedElement>& way,
                                 std::int64_t start_ns) {
  const bool is_stamped = times.stamp_offset_ns != 0;
  std::vector<DueFrame> frames;
  for (const Passing& one : unlike_times(way.front().passings)) {
    const std::int64_t stamped = is_stamped ? one.pts_ns + times.stamp_offset_ns : one.at_ns;
    frames.push_back({.due_ns = std::min(stamped, one.at_ns), .left_ns = one.at_ns, .pts_ns = one.pts_ns});
  }
  if (!times.live) return frames;
  // Where frames are due when they leave, a gap says nothing: those of it may come all at once.
  return with_owed(frames, rate_of_source(way, frames), is_stamped ? start_ns : frames.back().due_ns,
                   times.stopped_ns);
}

CameraRun camera_of(const std::vector<DueFrame>& frames, const std::vector<Times>& at_nodes,
                    const std::vector<Times>& at_sinks) {
  const Columns columns{.parts = at_nodes.size(), .sinks = at_sinks.size()};
  CameraRun camera{.records = FrameRecords(frames.size(), columns), .offered = frames.size(), .report = {}};
  for (std::size_t frame = 0; frame < frames.size(); ++frame) {
    const DueFrame& one = frames[frame];
    if (one.left_ns != 0) {
      fill_row(camera.records, frame, one.due_ns, one.left_ns, one.pts_ns, at_nodes, at_sinks);
    } else {
      camera.records.time(frame, Columns::kDue) = one.due_ns;
      camera.records.outcome(frame) = Outcome::NotSent;
    }
  }
  return camera;
}

std::vector<Row> kept_rows(const std::vector<PassedElement>& sinks, std::int64_t from_ns) {
  std::vector<Row> rows;
  for (const PassedElement& sink : sinks) {
    std::vector<std::int64_t> samples;
    for (const KeptBuffer& one : sink.kept)
      if (one.from_ns >= from_ns) samples.push_back(one.to_ns - one.from_ns);
    if (!samples.empty())
      rows.push_back({RowKind::Sink, Distribution(std::string(kInSink) + sink.name, std::move(samples))});
  }
  return rows;
}

/// The sink that has had a frame for longest, if that is longer than the deadline.
std::string held_up_by(const std::vector<PassedElement>& sinks, std::int64_t end_ns, double deadline_ms) {
  const PassedElement* longest = nullptr;
  for (const PassedElement& sink : sinks)
    if (sink.held_since_ns != 0 && (longest == nullptr || sink.held_since_ns < longest->held_since_ns))
      longest = &sink;
  if (longest == nullptr || end_ns == 0 || ms(end_ns - longest->held_since_ns) <= deadline_ms) return "";
  return fmt::format("the sink '{}' took a frame {} before the end and did not come back", longest->name,
                     duration_text(static_cast<double>(end_ns - longest->held_since_ns)));
}

}  // namespace

MeasuredPipeline measured_from(const PipelineTimes& times, const Load& load, double deadline_ms,
                               std::int64_t start_ns) {
  if (times.way.size() < 2 || times.way[times.way.size() - 2].passings.empty())
    throw Error(ExitCode::BadData, "no frame with a time came to the element 'contorno' in this pipeline");
  const std::vector<PassedElement> way = way_of_frames(times), sinks = sinks_of_frames(times);
  MeasuredPipeline result;
  result.source = way.front().name;
  for (const PassedElement& sink : times.sinks)
    if (std::none_of(sinks.begin(), sinks.end(),
                     [&](const PassedElement& one) { return one.name == sink.name; }))
      result.not_counted.push_back(sink.name);
  std::vector<Times> at_nodes, at_sinks;
  for (std::size_t place = 1; place < way.size(); ++place) {
    result.graph.nodes.push_back({.name = way[place].name, .params = {}, .inputs = {}, .where = {}});
    at_nodes.push_back(times_of(way[place]));
  }
  for (const PassedElement& sink : sinks) {
    SinkSpec spec;
    spec.name = sink.name;
    result.graph.sinks.push_back(std::move(spec));
    at_sinks.push_back(times_of(sink));
  }
  CameraRun camera = camera_of(due_frames(times, way, start_ns), at_nodes, at_sinks);
  constexpr double kNever_ms = 1e12;
  mark_under_way(camera.records, times.stopped_ns,
                 static_cast<std::int64_t>((times.live ? deadline_ms : kNever_ms) * 1e6));
  Measurement& measurement = result.measurement;
  measurement.load = load;
  measurement.load.loop = times.live ? Loop::Open : Loop::Closed;
  measurement.load.rate = mean_rate(camera.records);
  measurement.start_ns = camera.records.time(0, Columns::kDue);
  const std::int64_t warm_ns = measurement.start_ns + static_cast<std::int64_t>(load.warm_up_s * 1e9);
  while (camera.warm_up_frames < camera.offered &&
         camera.records.time(camera.warm_up_frames, Columns::kDue) < warm_ns)
    ++camera.warm_up_frames;
  measurement.cameras.push_back(std::move(camera));
  result.kept = kept_rows(sinks, warm_ns);
  result.traced = traced_rows(times.traced, warm_ns);
  result.held_up = held_up_by(sinks, times.stopped_ns, deadline_ms);
  return result;
}

MeasuredPipeline measure_pipeline(const std::string& line, const Load& load, double deadline_ms, bool quiet) {
  const InterruptGuard guard;
  const std::int64_t start_ns = now_ns();
  const std::unique_ptr<TimedPipeline> pipeline = media_module().time_pipeline(line);
  // To find and load elements takes time of its own.
  const std::int64_t playing_ns = now_ns();
  const auto after = [&](double seconds) { return playing_ns + static_cast<std::int64_t>(seconds * 1e9); };
  ProgressLine progress(!quiet);
  UsedSoFar begin = used_so_far();
  bool warm = false;
  int signal = 0;
  while (!pipeline->ended() && now_ns() < after(load.warm_up_s + load.duration_s) && signal == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!warm && now_ns() >= after(load.warm_up_s)) warm = true, begin = used_so_far();
    signal = InterruptGuard::requested();
    progress.show(fmt::format("{:.0f} of {:g} s", static_cast<double>(now_ns() - playing_ns) * 1e-9,
                              load.warm_up_s + load.duration_s));
  }
  const UsedSoFar end = used_so_far();
  const double ran_ns = static_cast<double>(now_ns() - playing_ns);
  const bool ended = pipeline->ended() && signal == 0;
  progress.clear();
  MeasuredPipeline result = measured_from(pipeline->stop(), load, deadline_ms, start_ns);
  for (const std::string& sink : result.not_counted)
    say(fmt::format("the sink '{}' is not counted: no frame came to it by its time", sink));
  if (ended && result.measurement.load.loop == Loop::Open)
    say(fmt::format("the pipeline came to its end after {}; {:g} s were wanted", duration_text(ran_ns),
                    load.warm_up_s + load.duration_s));
  result.measurement.resources = used_between(begin, end);
  result.measurement.signal = InterruptGuard::requested();  // one that came while it was stopped, too
  return result;
}

LatencyReport summarise(const MeasuredPipeline& measured, Settings settings, const SummaryOptions& options) {
  LatencyReport report =
      summarise(measured.graph, std::move(settings), std::vector<Measurement>{measured.measurement}, options);
  report.settings.source = measured.source;
  report.settings.backend = report.settings.on_full = "";
  // Rows that only contorno's own runs have, of queues and transfers, are left out.
  std::erase_if(report.rows, [&](const Row& row) {
    return (row.kind == RowKind::Wait || row.kind == RowKind::Transfer) && row.times.max_ms() == 0;
  });
  for (WorstFrame& frame : report.worst) {
    std::erase_if(frame.parts_ms, [](const auto& part) { return part.second == 0; });
    std::erase_if(frame.trace, [](const Span& span) { return span.ms == 0; });
  }
  for (const std::vector<Row>* rows : {&measured.kept, &measured.traced})
    report.rows.insert(report.rows.end(), rows->begin(), rows->end());
  report.held_up = measured.held_up;
  return report;
}

}  // namespace contorno::latency
