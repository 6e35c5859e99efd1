// What was noted of single frames, as a table of numbers and as a trace.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/run/trace.h"
#include "tools/latency/measured.h"
#include "tools/latency/show.h"

namespace contorno::latency {
namespace {

const char* name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::NotOffered:
    case Outcome::UnderWay:
      return "in flight";
    case Outcome::Delivered:
      return "delivered";
    case Outcome::Failed:
      return "failed";
    case Outcome::RingFull:
      return "dropped: no free slot";
    case Outcome::NotSent:
      return "dropped: not sent by the source";
    case Outcome::Deadline:
      break;
  }
  return "dropped: past the deadline";
}

/// The columns of a row by name.
std::vector<std::string> column_names(const GraphSpec& graph) {
  std::vector<std::string> names{"due", "arrived", "launched", "started", "uploaded"};
  for (std::string& name : part_names(graph)) names.push_back(std::move(name));
  names.insert(names.end(), {"downloaded", "result"});
  for (const SinkSpec& sink : graph.sinks) {
    names.push_back("sink " + sink.name + " begins");
    names.push_back("sink " + sink.name);
  }
  return names;
}

/// A frame of one camera of one repeat.
struct FrameOf {
  const Measurement* measurement;
  std::size_t camera, frame;
  const FrameRecords& records() const { return measurement->cameras[camera].records; }
  std::int64_t due() const { return records().time(frame, Columns::kDue); }
  std::int64_t end(Until until) const {
    const Columns& columns = records().columns();
    std::int64_t last = records().time(frame, columns.finished());
    if (until == Until::Sinks)
      for (std::size_t sink = 0; sink < columns.sinks; ++sink)
        last = std::max(last, records().time(frame, columns.sink_end(sink)));
    return last;
  }
};

std::vector<FrameOf> delivered_frames(const Measurement& measurement) {
  std::vector<FrameOf> all;
  for (std::size_t camera = 0; camera < measurement.cameras.size(); ++camera)
    for (std::size_t frame = measurement.cameras[camera].warm_up_frames;
         frame < measurement.cameras[camera].offered; ++frame)
      if (measurement.cameras[camera].records.outcome(frame) == Outcome::Delivered)
        all.push_back({&measurement, camera, frame});
  return all;
}

/// The `most` slowest frames, and the `most` slowest of those that were probed.
std::vector<FrameOf> worst_frames(const std::vector<Measurement>& repeats, Until until, std::size_t most) {
  std::vector<FrameOf> all;
  for (const Measurement& repeat : repeats) {
    const std::vector<FrameOf> delivered = delivered_frames(repeat);
    all.insert(all.end(), delivered.begin(), delivered.end());
  }
  std::stable_sort(all.begin(), all.end(), [&](const FrameOf& a, const FrameOf& b) {
    return a.end(until) - a.due() > b.end(until) - b.due();
  });
  std::vector<FrameOf> worst;
  std::size_t probed = 0;
  for (std::size_t place = 0; place < all.size() && probed < most; ++place) {
    const bool is_probed = all[place].records().probed(all[place].frame);
    if (place < most || is_probed) worst.push_back(all[place]);
    if (is_probed) ++probed;
  }
  return worst;
}

/// Adds a frame on `track`, and each of its sinks, which work beside each other, on a track behind it.
void add_frame(Trace& trace, const FrameOf& one, const std::vector<Part>& parts, std::int32_t track,
               Until until) {
  const FrameRecords& records = one.records();
  trace.add(fmt::format("frame {}", one.frame), track, one.frame, one.due(), one.end(until));
  std::int32_t sinks = 0;
  for (const Part& part : parts) {
    const std::optional<PartSpan> span = span_of(records, one.frame, part);
    const std::int32_t own = part.kind == RowKind::Sink ? track + ++sinks : track;
    if (span && span->end_ns > span->begin_ns && (part.kind == RowKind::Sink || !part.after_result))
      trace.add(part.name, own, one.frame, span->begin_ns, span->end_ns);
  }
}

}  // namespace

std::string csv_of(const GraphSpec& graph, const std::vector<Measurement>& repeats) {
  std::string text = "repeat,camera,frame,warm_up,outcome";
  for (const std::string& name : column_names(graph)) text += "," + name;
  text += "\n";
  for (std::size_t repeat = 0; repeat < repeats.size(); ++repeat)
    for (std::size_t camera = 0; camera < repeats[repeat].cameras.size(); ++camera) {
      const CameraRun& run = repeats[repeat].cameras[camera];
      const FrameRecords& records = run.records;
      for (std::size_t frame = 0; frame < run.offered; ++frame) {
        text += fmt::format("{},{},{},{},{}", repeat + 1, camera + 1, frame,
                            frame < run.warm_up_frames ? 1 : 0, name_of(records.outcome(frame)));
        for (std::size_t column = 0; column < records.columns().count(); ++column) {
          const std::int64_t time = records.time(frame, column);
          text += time == 0 ? "," : fmt::format(",{}", time - repeats[repeat].start_ns);
        }
        text += "\n";
      }
    }
  return text;
}

std::string trace_of(const GraphSpec& graph, const std::vector<Measurement>& repeats, Until until,
                     std::size_t most) {
  const std::vector<FrameOf> worst = worst_frames(repeats, until, most);
  std::vector<FrameOf> shown;
  for (const Measurement& repeat : repeats)
    for (const FrameOf& one : delivered_frames(repeat))
      if (std::any_of(worst.begin(), worst.end(), [&](const FrameOf& slow) {
            return one.due() <= slow.end(until) && one.end(until) >= slow.due();
          }))
        shown.push_back(one);
  const std::vector<Part> parts = parts_of(graph);
  Trace trace(shown.size() * (parts.size() + 1));
  std::vector<std::pair<std::int32_t, std::string>> tracks;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const auto track = static_cast<std::int32_t>(i * (graph.sinks.size() + 1)) + 1;
    const std::string& name = shown[i].measurement->cameras[shown[i].camera].name;
    const std::string frame = fmt::format(
        "camera {} frame {}", name.empty() ? std::to_string(shown[i].camera + 1) : name, shown[i].frame);
    tracks.emplace_back(track, fmt::format("{}: {:.3f} ms", frame,
                                           static_cast<double>(shown[i].end(until) - shown[i].due()) * 1e-6));
    for (std::size_t sink = 0; sink < graph.sinks.size(); ++sink)
      tracks.emplace_back(track + 1 + static_cast<std::int32_t>(sink),
                          fmt::format("{}, sink {}", frame, graph.sinks[sink].name));
    add_frame(trace, shown[i], parts, track, until);
  }
  return trace.to_json(tracks);
}

}  // namespace contorno::latency
