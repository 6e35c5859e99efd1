#include "tools/report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cuda/device.h"

namespace contorno {
namespace {

using nlohmann::ordered_json;

/// A percentile needs ten samples beyond it to mean anything: null below that.
ordered_json percentile(const Histogram& histogram, double fraction) {
  const double needed = 10 / (1 - fraction);
  if (static_cast<double>(histogram.count()) < needed - 1e-6 && fraction > 0.5) return nullptr;
  return histogram.percentile_us(fraction);
}

ordered_json latency(const Histogram& histogram) {
  if (histogram.count() == 0) return nullptr;
  return {{"count", histogram.count()},
          {"min", histogram.min_us()},
          {"mean", histogram.mean_us()},
          {"p50", percentile(histogram, 0.5)},
          {"p90", percentile(histogram, 0.9)},
          {"p99", percentile(histogram, 0.99)},
          {"p99.9", percentile(histogram, 0.999)},
          {"max", histogram.max_us()}};
}

std::string percentile_text(const Histogram& histogram, double fraction) {
  const ordered_json value = percentile(histogram, fraction);
  return value.is_null() ? "n/a" : fmt::format("{:.2f}", value.get<double>() * 1e-3);
}

std::string latency_row(std::string_view name, const Histogram& histogram) {
  return fmt::format("  {:<20} {:>9.2f} {:>9} {:>9} {:>9} {:>9} {:>9.2f}\n", name, histogram.min_us() * 1e-3,
                     percentile_text(histogram, 0.5), percentile_text(histogram, 0.9),
                     percentile_text(histogram, 0.99), percentile_text(histogram, 0.999),
                     histogram.max_us() * 1e-3);
}

}  // namespace

std::string report_json(const RunReport& report, const std::string& graph_file,
                        const std::string& graph_text) {
  const FrameCounts& frames = report.frames;
  ordered_json json = {
      {"contorno", CONTORNO_VERSION},
      {"graph", {{"file", graph_file}, {"text", graph_text}}},
      {"source", report.source},
      {"backend", name_of(report.backend)},
      {"slots", report.slots},
      {"threads", report.threads},
      {"on_full", name_of(report.on_full)},
      {"bytes_per_slot", report.bytes_per_slot},
      {"interrupted", report.interrupted},
      {"frames",
       {{"in", frames.offered},
        {"out", frames.delivered},
        {"failed", frames.failed},
        {"dropped",
         {{"total", frames.dropped()},
          {"ring_full", frames.dropped_ring_full},
          {"deadline", frames.dropped_deadline},
          {"aborted", frames.dropped_aborted}}},
        {"late", frames.late},
        {"regrown", frames.regrown}}},
      {"wall_seconds", report.wall_seconds},
      {"frames_per_second", report.rate()},
      {"latency_us", {{"end_to_end", latency(report.end_to_end)}}},
  };
  if (report.backend == Backend::Cuda && !device_report().devices.empty())
    json["device"] = device_report().devices[0].name;
  for (const Timing& part : report.parts) json["latency_us"]["parts"][part.name] = latency(part.histogram);
  json["classes"] = ordered_json::array();
  for (const ClassCounts& one : report.classes)
    json["classes"].push_back({{"name", one.name}, {"points", one.points}, {"contours", one.contours}});
  json["failures"] = ordered_json::array();
  for (const FrameFailure& failure : report.failures)
    json["failures"].push_back({{"frame", failure.frame}, {"reason", failure.reason}});
  json["sinks"] = ordered_json::array();
  for (const SinkOutcome& sink : report.sinks)
    json["sinks"].push_back({{"name", sink.name},
                             {"made", sink.summary},
                             {"error", sink.error.empty() ? ordered_json() : ordered_json(sink.error)}});
  return json.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

std::string report_text(const RunReport& report) {
  const FrameCounts& frames = report.frames;
  std::string text =
      fmt::format("frames    in {}  out {}  dropped {}", frames.offered, frames.delivered, frames.dropped());
  if (frames.dropped() > 0)
    text += fmt::format(" (ring full {}, deadline {}, aborted {})", frames.dropped_ring_full,
                        frames.dropped_deadline, frames.dropped_aborted);
  text += fmt::format("  failed {}\n", frames.failed);
  text +=
      fmt::format("rate      {:.1f} frames/s over {:.2f} s, backend {}, {} threads, {} slots\n",
                  report.rate(), report.wall_seconds, name_of(report.backend), report.threads, report.slots);
  if (report.end_to_end.count() > 0) {
    text += fmt::format("latency   {:<12} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}   (ms; n/a: too few frames)\n",
                        "", "min", "p50", "p90", "p99", "p99.9", "max");
    text += latency_row("arrival to result", report.end_to_end);
    for (const Timing& part : report.parts)
      if (part.histogram.count() > 0) text += latency_row("  " + part.name, part.histogram);
  }
  for (const ClassCounts& one : report.classes)
    text += fmt::format("class     {:<20} {} contours, {} points\n", one.name, one.contours, one.points);
  for (const SinkOutcome& sink : report.sinks) {
    if (!sink.summary.empty()) text += fmt::format("made      {}\n", sink.summary);
    if (!sink.error.empty()) text += fmt::format("error     sink '{}': {}\n", sink.name, sink.error);
  }
  return text;
}

}  // namespace contorno
