#include "tools/latency/measured.h"

namespace contorno::latency {

Columns columns_of(const GraphSpec& graph) {
  return {.parts = part_names(graph).size(), .sinks = graph.sinks.size()};
}

std::vector<Part> parts_of(const GraphSpec& graph) {
  const Columns columns = columns_of(graph);
  std::vector<Part> parts{{RowKind::Wait, "timer and source", Columns::kDue, Columns::kArrived},
                          {RowKind::Wait, "queue", Columns::kArrived, Columns::kLaunched},
                          {RowKind::Wait, "start", Columns::kLaunched, Columns::kStarted},
                          {RowKind::Transfer, "upload", Columns::kStarted, Columns::kUploaded}};
  std::size_t last = Columns::kUploaded;
  for (const std::string& name : part_names(graph)) {
    parts.push_back({RowKind::Stage, name, last, last + 1});
    ++last;
  }
  parts.push_back({RowKind::Transfer, "download", last, columns.downloaded()});
  parts.push_back({RowKind::Wait, "completion", columns.downloaded(), columns.finished()});
  parts.push_back({.kind = RowKind::Stage,
                   .name = "launch to result",
                   .from = Columns::kLaunched,
                   .to = columns.finished(),
                   .unprobed = true});
  for (std::size_t sink = 0; sink < columns.sinks; ++sink) {
    const std::string name = "sink " + graph.sinks[sink].name;
    parts.push_back({RowKind::Wait, "queue of " + name, columns.finished(), columns.sink_start(sink), true});
    parts.push_back({RowKind::Sink, name, columns.sink_start(sink), columns.sink_end(sink), true});
  }
  return parts;
}

std::optional<PartSpan> span_of(const FrameRecords& records, std::size_t frame, const Part& part) {
  const std::int64_t begin = records.time(frame, part.from), end = records.time(frame, part.to);
  if (begin == 0 || end == 0 || (part.unprobed && records.probed(frame))) return std::nullopt;
  return PartSpan{begin, end};
}

std::vector<Measured> cameras_of(const Measurement& measurement) {
  std::vector<Measured> all;
  for (const CameraRun& camera : measurement.cameras)
    all.emplace_back(measurement, camera, static_cast<int>(all.size()) + 1);
  return all;
}

std::vector<std::string> row_names(const FleetSpec& fleet) {
  std::vector<std::string> names{kDueToResult, kDueToSinks, "between results"};
  if (fleet.is_named())
    for (const CameraSpec& camera : fleet.cameras) names.push_back(row_of_camera(camera.name));
  for (const Part& part : parts_of(fleet.cameras.front().graph))
    if (!part.unprobed) names.push_back(part.name);
  return names;
}

}  // namespace contorno::latency
