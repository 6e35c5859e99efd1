#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "pipeline/shared/printable.h"
#include "tools/latency/fields.h"
#include "tools/latency/show.h"

namespace contorno::latency {
namespace {

using Json = nlohmann::ordered_json;

Json masked_each(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& one : texts) json.push_back(masked(one));
  return json;
}

Json settings_json(const Settings& settings) {
  Json json{{"mode", name_of(settings.mode)},
            {"loop", name_of(settings.loop)},
            {"frames_per_second", settings.rate > 0 ? Json(settings.rate) : Json()},
            {"probe_every", settings.probe_every},
            {"until", name_of(settings.until)}};
  write_fields(json, settings, kSettings);
  json["source"] = masked(settings.source);
  json["graph"] = {{"file", settings.graph_file}, {"text", masked(settings.graph_text)}};
  json["set"] = masked_each(settings.overrides);
  return json;
}

Json percentile_json(const Percentile& at) {
  if (at.state == Percentile::State::TooFew) return nullptr;
  if (at.state == Percentile::State::Infinite) return "infinite";
  return at.ms;
}

Json percentiles_json(const Distribution& times, std::uint64_t missing) {
  Json all = Json::object();
  for (const NamedPercentile& one : kPercentiles)
    all[one.name] = percentile_json(times.percentile(one.share, missing));
  return all;
}

Json row_json(const Row& row, std::uint64_t missing) {
  const Distribution& times = row.times;
  Json json{{"name", times.name()},           {"kind", name_of(row.kind)},
            {"count", times.count()},         {"min_ms", times.min_ms()},
            {"mean_ms", times.mean_ms()},     {"max_ms", times.max_ms()},
            {"jitter_ms", times.jitter_ms()}, {"percentiles_ms", percentiles_json(times, 0)}};
  if (row.kind == RowKind::EndToEnd) json["percentiles_of_offered_ms"] = percentiles_json(times, missing);
  Json buckets = Json::array();
  for (const Histogram::Bucket& bucket : times.histogram().buckets())
    buckets.push_back({bucket.highest_ns, bucket.count});
  json["histogram_ns"] = std::move(buckets);
  return json;
}

Json frames_json(const Tally& frames) {
  return {{"offered", frames.offered},
          {"delivered", frames.delivered},
          {"dropped",
           {{"total", frames.dropped()},
            {"ring_full", frames.ring_full},
            {"deadline", frames.dropped_deadline},
            {"not_sent", frames.not_sent}}},
          {"failed", frames.failed},
          {"in_flight", frames.in_flight},
          {"late", frames.late},
          {"misses", frames.misses()},
          {"misses_per_million", frames.misses_per_million()},
          {"longest_run_of_misses", frames.longest_run},
          {"probed", frames.probed}};
}

Json cameras_json(const std::vector<CameraFigures>& cameras) {
  Json json = Json::array();
  for (const CameraFigures& one : cameras)
    json.push_back({{"name", one.name},
                    {"frames_per_second", one.rate > 0 ? Json(one.rate) : Json()},
                    {"deadline_ms", one.deadline_ms},
                    {"frames", frames_json(one.frames)}});
  return json;
}

Json worst_json(const std::vector<WorstFrame>& worst) {
  Json json = Json::array();
  for (const WorstFrame& one : worst) {
    Json parts = Json::object();
    for (const auto& [name, ms] : one.parts_ms) parts[name] = ms;
    Json trace = Json::array();
    for (const Span& span : one.trace) trace.push_back({span.name, span.begin_ms, span.ms});
    json.push_back({{"camera", one.camera},
                    {"frame", one.frame},
                    {"due_s", one.due_s},
                    {"total_ms", one.total_ms},
                    {"probed", one.probed},
                    {"parts_ms", std::move(parts)},
                    {"trace", std::move(trace)}});
  }
  return json;
}

Json lists_json(const LatencyReport& report) {
  Json json{{"worst", worst_json(report.worst)},
            {"worst_probed", worst_json(report.worst_probed)},
            {"series", Json::array()},
            {"repeats", Json::array()},
            {"search", Json::array()}};
  for (const Bin& one : report.series)
    json["series"].push_back({one.begin_s, one.median_ms, one.max_ms, one.delivered, one.missed});
  for (const Repeat& one : report.repeats)
    json["repeats"].push_back({{"mean_ms", one.mean_ms},
                               {"p50_ms", one.p50_ms},
                               {"p99_ms", one.knows_p99 ? Json(one.p99_ms) : Json()},
                               {"max_ms", one.max_ms},
                               {"misses_per_million", one.misses_per_million}});
  for (const Trial& one : report.trials)
    write_fields(json["search"].emplace_back(Json::object()), one, kTrial);
  return json;
}

Json resources_json(const LatencyReport& report) {
  Json json;
  write_fields(json, report.resources, kSummed);
  write_fields(json, report.resources, kResident);
  write_fields(json, report.memory, kMemory);
  return json;
}

Json probe_json(const ProbeCost& cost) {
  if (cost.rounds == 0) return nullptr;
  Json json;
  write_fields(json, cost, kProbeCost);
  json["every"] = cost.every;
  json["mean_percent"] = cost.mean_percent();
  return json;
}

Json allocations_json(const FrameAllocations& allocations) {
  if (allocations.frames == 0) return nullptr;
  Json json;
  write_fields(json, allocations, kAllocations);
  return json;
}

}  // namespace

std::string json_of(const LatencyReport& report, const Judgement& judgement) {
  Json json{{"schema", kSchema}, {"merged", report.merged}, {"settings", settings_json(report.settings)}};
  json["environment"] = Json::object();
  for (const auto& [name, value] : report.environment) json["environment"][name] = value;
  json["verdict"] = {{"result", name_of(judgement.verdict.state)}, {"sentence", judgement.verdict.sentence}};
  json["assertions"] = Json::array();
  for (const Assertion::Answer& answer : judgement.assertions)
    json["assertions"].push_back({{"state", name_of(answer.state)}, {"sentence", answer.sentence}});
  json["frames"] = frames_json(report.frames);
  json["cameras"] = cameras_json(report.cameras);
  json["first_frame_ms"] = report.first_frame_ms > 0 ? Json(report.first_frame_ms) : Json();
  json["missing_frames"] = report.missing_frames;
  json["source_reconnections"] = report.source_reconnections;
  json["held_up"] = report.held_up;
  json["rows"] = Json::array();
  for (const Row& row : report.rows) json["rows"].push_back(row_json(row, report.frames.missing()));
  json.update(lists_json(report));
  json["resources"] = resources_json(report);
  json["probe_cost"] = probe_json(report.probe_cost);
  json["frame_allocations"] = allocations_json(report.allocations);
  return json.dump(1, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

}  // namespace contorno::latency
