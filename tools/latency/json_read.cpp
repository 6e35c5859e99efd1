// Reads a report back from its JSON file.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "tools/latency/fields.h"
#include "tools/latency/show.h"

namespace contorno::latency {
namespace {

using Json = nlohmann::ordered_json;

/// The one of `all` that has this name.
template <class E>
E called(const std::string& name, std::initializer_list<E> all) {
  const auto* const found = std::find_if(all.begin(), all.end(), [&](E one) { return name == name_of(one); });
  if (found == all.end()) throw Error(ExitCode::BadData, fmt::format("'{}' is not known", name));
  return *found;
}

double number_or_0(const Json& json) {
  return json.is_null() ? 0 : json.get<double>();
}

/// More frames than anybody has measured.
constexpr std::uint64_t kMostFrames = 1'000'000'000;

/// A count: no share of a frame, and none below 0.
template <class Key>
std::uint64_t count_at(const Json& json, const Key& name) {
  const Json& value = json.at(name);
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > kMostFrames)
    throw Error(ExitCode::BadData, fmt::format("'{}' is {}, allowed a whole number from 0 to {}", name,
                                               value.dump(), kMostFrames));
  return value.get<std::uint64_t>();
}

// Reports of earlier versions, whose frames were all probed, lack what has a default here.
Settings settings_from(const Json& json) {
  Settings settings;
  settings.mode = called(json.at("mode").get<std::string>(),
                         {Mode::Stream, Mode::Single, Mode::Saturate, Mode::Cameras, Mode::Pipeline});
  settings.loop = called(json.at("loop").get<std::string>(), {Loop::Open, Loop::Closed});
  settings.rate = number_or_0(json.at("frames_per_second"));
  settings.probe_every = json.value("probe_every", kEveryFrame);
  settings.until = called(json.at("until").get<std::string>(), {Until::Result, Until::Sinks});
  read_fields(json, settings, kSettings);
  json.at("source").get_to(settings.source);
  json.at("graph").at("file").get_to(settings.graph_file);
  json.at("graph").at("text").get_to(settings.graph_text);
  json.at("set").get_to(settings.overrides);
  return settings;
}

Tally frames_from(const Json& json) {
  const Json& dropped = json.at("dropped");
  Tally frames{.offered = count_at(json, "offered"),
               .delivered = count_at(json, "delivered"),
               .failed = count_at(json, "failed"),
               .in_flight = count_at(json, "in_flight"),
               .ring_full = count_at(dropped, "ring_full"),
               .dropped_deadline = count_at(dropped, "deadline"),
               .not_sent = dropped.contains("not_sent") ? count_at(dropped, "not_sent") : 0,
               .late = count_at(json, "late"),
               .longest_run = count_at(json, "longest_run_of_misses")};
  frames.probed = json.contains("probed") ? count_at(json, "probed") : frames.delivered;
  // Counts that follow from others are in the file, too, and have to agree.
  const auto check = [](const char* name, std::uint64_t written, std::uint64_t derived) {
    if (written != derived)
      throw Error(ExitCode::BadData,
                  fmt::format("its counts contradict each other: '{}' is {}, by the others {}", name, written,
                              derived));
  };
  check("dropped.total", count_at(dropped, "total"), frames.dropped());
  check("misses", count_at(json, "misses"), frames.misses());
  return frames;
}

Row row_from(const Json& json) {
  Histogram histogram;
  for (const Json& bucket : json.at("histogram_ns"))
    histogram.record(bucket.at(0).get<std::int64_t>(), static_cast<std::uint32_t>(count_at(bucket, 1)));
  if (histogram.count() != json.at("count").get<std::uint64_t>())
    throw Error(ExitCode::BadData, fmt::format("the histogram of '{}' has {} values, its count is {}",
                                               json.at("name").get<std::string>(), histogram.count(),
                                               json.at("count").get<std::uint64_t>()));
  return {called(json.at("kind").get<std::string>(),
                 {RowKind::EndToEnd, RowKind::Camera, RowKind::Wait, RowKind::Transfer, RowKind::Stage,
                  RowKind::Sink, RowKind::Interval, RowKind::Traced}),
          Distribution(json.at("name"), histogram, json.at("min_ms"), json.at("max_ms"), json.at("mean_ms"),
                       json.at("jitter_ms"))};
}

std::vector<CameraFigures> cameras_from(const Json& json) {
  std::vector<CameraFigures> cameras;
  for (const Json& one : json)
    cameras.push_back({.name = one.at("name"),
                       .rate = number_or_0(one.at("frames_per_second")),
                       .deadline_ms = one.at("deadline_ms"),
                       .frames = frames_from(one.at("frames"))});
  return cameras;
}

std::vector<WorstFrame> worst_from(const Json& json) {
  std::vector<WorstFrame> worst;
  for (const Json& one : json) {
    WorstFrame frame{.camera = one.at("camera"),
                     .frame = one.at("frame"),
                     .due_s = one.at("due_s"),
                     .total_ms = one.at("total_ms"),
                     .probed = one.value("probed", true)};
    for (const auto& [name, ms] : one.at("parts_ms").items())
      frame.parts_ms.emplace_back(name, ms.get<double>());
    for (const Json& span : one.value("trace", Json::array()))
      frame.trace.push_back({.name = span.at(0), .begin_ms = span.at(1), .ms = span.at(2)});
    worst.push_back(std::move(frame));
  }
  return worst;
}

void read_lists(const Json& json, LatencyReport& report) {
  report.worst = worst_from(json.at("worst"));
  report.worst_probed = worst_from(json.value("worst_probed", Json::array()));
  for (const Json& one : json.at("series"))
    report.series.push_back({.begin_s = one.at(0),
                             .median_ms = one.at(1),
                             .max_ms = one.at(2),
                             .delivered = count_at(one, 3),
                             .missed = count_at(one, 4)});
  for (const Json& one : json.at("repeats"))
    report.repeats.push_back({.p50_ms = one.at("p50_ms"),
                              .p99_ms = number_or_0(one.at("p99_ms")),
                              .max_ms = one.at("max_ms"),
                              .mean_ms = one.at("mean_ms"),
                              .knows_p99 = !one.at("p99_ms").is_null(),
                              .misses_per_million = one.at("misses_per_million")});
  for (const Json& one : json.at("search")) read_fields(one, report.trials.emplace_back(), kTrial);
}

void read_resources(const Json& json, LatencyReport& report) {
  read_fields(json, report.resources, kSummed);
  read_fields(json, report.resources, kResident);
  read_fields(json, report.memory, kMemory);
}

void read_probe_cost(const Json& json, ProbeCost& cost) {
  if (json.is_null()) return;
  read_fields(json, cost, kProbeCost);
  cost.every = json.value("every", kEveryFrame);
}

/// Throws Error(BadData) where a report says of the same frames what cannot be true together.
void check_counts(const LatencyReport& report) {
  const Tally& frames = report.frames;
  const auto check = [](bool holds, const std::string& what) {
    if (!holds) throw Error(ExitCode::BadData, "its counts contradict each other: " + what);
  };
  const auto within = [&](const char* name, std::uint64_t part, const char* of, std::uint64_t all) {
    check(part <= all, fmt::format("'{}' is {}, but '{}' is {}", name, part, of, all));
  };
  check(frames.offered == frames.delivered + frames.dropped() + frames.failed + frames.in_flight,
        fmt::format("{} frames were offered, but {} delivered, {} dropped, {} failed and {} in flight",
                    frames.offered, frames.delivered, frames.dropped(), frames.failed, frames.in_flight));
  within("late", frames.late, "delivered", frames.delivered);
  within("probed", frames.probed, "delivered", frames.delivered);
  within("longest_run_of_misses", frames.longest_run, "misses", frames.misses());
  for (const Row& row : report.rows) {
    const std::string& name = row.times.name();
    if (name == kDueToResult)
      check(row.times.count() == frames.delivered, fmt::format("'{}' has {} frames, but {} were delivered",
                                                               name, row.times.count(), frames.delivered));
    else if (row.kind == RowKind::EndToEnd)
      within(name.c_str(), row.times.count(), "delivered", frames.delivered);
  }
  std::uint64_t offered = 0;
  for (const CameraFigures& camera : report.cameras) {
    offered += camera.frames.offered;
    const Distribution* const times = report.row(row_of_camera(camera.name));
    const std::uint64_t rows = times != nullptr ? times->count() : 0;
    check(rows == camera.frames.delivered,
          fmt::format("'{}' has {} frames, but {} were delivered", row_of_camera(camera.name), rows,
                      camera.frames.delivered));
  }
  check(report.cameras.empty() || offered == frames.offered,
        fmt::format("cameras were offered {} frames, but 'offered' is {}", offered, frames.offered));
  check(frames.delivered == 0 || report.row(kDueToResult) != nullptr,
        fmt::format("{} frames were delivered, but there is no row '{}'", frames.delivered, kDueToResult));
  std::uint64_t delivered = 0;
  for (const Bin& bin : report.series) delivered += bin.delivered;
  check(report.series.empty() || delivered == frames.delivered,
        fmt::format("'series' has {} frames, but {} were delivered", delivered, frames.delivered));
}

}  // namespace

LatencyReport report_from(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (!json.is_object() || json.value("schema", "") != kSchema)
      throw Error(ExitCode::BadData, fmt::format("its schema is not '{}'", kSchema));
    LatencyReport report;
    report.merged = json.at("merged");
    report.settings = settings_from(json.at("settings"));
    for (const auto& [fact, value] : json.at("environment").items())
      report.environment.emplace_back(fact, value.get<std::string>());
    report.frames = frames_from(json.at("frames"));
    report.cameras = cameras_from(json.value("cameras", Json::array()));
    report.held_up = json.value("held_up", "");
    report.first_frame_ms = number_or_0(json.at("first_frame_ms"));
    json.at("missing_frames").get_to(report.missing_frames);
    report.source_reconnections = json.value("source_reconnections", std::uint64_t{0});
    for (const Json& row : json.at("rows")) report.rows.push_back(row_from(row));
    read_lists(json, report);
    read_resources(json.at("resources"), report);
    read_probe_cost(json.at("probe_cost"), report.probe_cost);
    if (const Json counted = json.value("frame_allocations", Json()); !counted.is_null())
      read_fields(counted, report.allocations, kAllocations);
    check_counts(report);
    return report;
  } catch (const nlohmann::json::exception& error) {
    throw Error(ExitCode::BadData, fmt::format("{}: no latency report: {}", name, error.what()));
  } catch (const Error& error) {
    throw Error(ExitCode::BadData, fmt::format("{}: no latency report: {}", name, error.what()));
  }
}

}  // namespace contorno::latency
