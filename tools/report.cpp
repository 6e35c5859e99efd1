#include "tools/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "cuda/device.h"
#include "pipeline/shared/printable.h"
#include "stages/network/used.h"
#include "tools/commit.h"
#include "tools/empty_classes.h"
#include "tools/report_object.h"

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

/// A budget, which was set or follows from a rate, without rounding: "12.5 ms", "33.333 ms".
std::string budget_text(double us) {
  return fmt::format("{} ms", std::round(us) / 1e3);
}

/// "2.9 ms", "29 ms"; with more digits where fewer would put it on the other side of the budget.
std::string latency_text(double us, double budget_us) {
  const double ms = us / 1e3, budget_ms = budget_us / 1e3;
  const auto is_over_with = [&](int digits) {
    const double scale = std::pow(10, digits);
    return std::round(ms * scale) / scale > budget_ms;
  };
  int digits = ms >= 9.95 ? 0 : ms >= 0.095 ? 1 : 2;
  while (digits < 3 && is_over_with(digits) != (ms > budget_ms)) ++digits;
  return fmt::format("{:.{}f} ms", ms, digits);
}

double a_frame(std::uint64_t count, const RunReport& report) {
  return report.frames.delivered > 0
             ? static_cast<double>(count) / static_cast<double>(report.frames.delivered)
             : 0;
}

std::string frames_rows(const RunReport& report) {
  const FrameCounts& frames = report.frames;
  std::string text = fmt::format("frames    {} in, {} out", frames.offered, frames.delivered);
  if (frames.failed > 0) text += fmt::format(", {} failed", frames.failed);
  if (frames.dropped() > 0) {
    std::vector<std::string> reasons;
    const auto add = [&](std::uint64_t count, const char* reason) {
      if (count > 0) reasons.push_back(fmt::format("{} {}", count, reason));
    };
    add(frames.dropped_ring_full, "no free slot");
    add(frames.dropped_deadline, "past the deadline");
    add(frames.dropped_thinned, "thinned");
    add(frames.dropped_aborted, "under way at the end");
    text += fmt::format(", {} dropped ({})", frames.dropped(), fmt::join(reasons, ", "));
  }
  if (frames.late > 0) text += fmt::format(", {} late", frames.late);
  text += fmt::format("\nrate      {:.1f} frames/s over {:.2f} s", report.rate(), report.wall_seconds);
  if (report.live && report.input_rate > 0)
    text += fmt::format("; {:.1f} frames/s came in", report.input_rate);
  const std::string reason = report.backend_reason.empty() ? "" : fmt::format("; {}", report.backend_reason);
  return text + fmt::format("\nbackend   {}, {} threads, {} slots{}\n",
                            describe(BackendChoice(report.backend, "", report.device)), report.threads,
                            report.slots, reason);
}

/// Whether the work keeps up with a live source, or with the deadline. Nothing where there is neither.
std::string held_row(const RunReport& report) {
  const bool paced = report.live && report.source_rate > 0;
  if (report.frames.offered == 0 || (!paced && report.deadline_ms == 0)) return "";
  const double budget_us = report.deadline_ms > 0 ? 1e3 * report.deadline_ms : 1e6 / report.source_rate;
  const double worst_us = report.end_to_end.count() > 0 ? report.end_to_end.max_us() : 0;
  const std::string subject = paced ? fmt::format("{:.4g} frames/s", report.source_rate)
                                    : fmt::format("{} a frame", budget_text(budget_us));
  const std::optional<bool> held = report.held();
  if (!held)
    return fmt::format("budget    {} held: not known, as only {:.1f} frames/s came in\n", subject,
                       report.input_rate);
  std::string text = fmt::format("budget    {} held: {}", subject, *held ? "yes" : "no");
  const FrameCounts& frames = report.frames;
  const std::uint64_t dropped = frames.dropped_ring_full + frames.dropped_deadline + frames.dropped_thinned;
  if (dropped > 0) text += fmt::format(", {} of {} frames dropped", dropped, report.frames.offered);
  if (report.frames.late > 0)
    text += fmt::format(", {} of {} late", report.frames.late, report.frames.delivered);
  if (report.end_to_end.count() == 0) return text + "\n";
  // Frames overlap: a rate is held, too, where a result takes longer than it is until the next frame.
  if (*held && worst_us > budget_us)
    return text + fmt::format("; a result took up to {}, longer than the {} between frames\n",
                              latency_text(worst_us, budget_us), budget_text(budget_us));
  return text + fmt::format(", worst {} of {}\n", latency_text(worst_us, budget_us), budget_text(budget_us));
}

/// Frames by level of quality, where a run had several.
std::string level_row(const RunReport& report) {
  if (report.levels.empty()) return "";
  std::vector<std::string> parts;
  for (const LevelCount& level : report.levels)
    parts.push_back(fmt::format("{} {}", level.frames, level.name));
  return fmt::format("quality   {}\n", fmt::join(parts, ", "));
}

/// What took time: columns that no row has enough frames for and rows that are all 0 are left out.
std::string latency_rows(const RunReport& report) {
  if (report.end_to_end.count() == 0) return "";
  std::vector<std::pair<std::string, const Histogram*>> rows{{"arrival to result", &report.end_to_end}};
  const auto add_part = [&](const std::string& name, const Histogram& histogram) {
    if (histogram.count() > 0 && histogram.max_us() >= 5) rows.emplace_back("  " + name, &histogram);
  };
  for (const Timing& part : report.parts) add_part(part.name, part.histogram);
  for (const SinkOutcome& sink : report.sinks) {
    if (sink.end_to_end.count() == 0) continue;
    rows.emplace_back(fmt::format("arrival to {}", sink.name), &sink.end_to_end);
    add_part("queued", sink.queued);
    add_part("writing", sink.writing);
  }
  static constexpr std::array<std::pair<const char*, double>, 4> kColumns{
      {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}}};
  const auto known = [&](double fraction) {
    return std::any_of(rows.begin(), rows.end(),
                       [&](const auto& row) { return !percentile(*row.second, fraction).is_null(); });
  };
  std::string text = fmt::format("latency   {:<22} {:>9}", "ms", "min");
  for (const auto& [name, fraction] : kColumns)
    if (known(fraction)) text += fmt::format(" {:>9}", name);
  text += fmt::format(" {:>9}\n", "max");
  for (const auto& [name, histogram] : rows) {
    text += fmt::format("          {:<22} {:>9.2f}", name, histogram->min_us() * 1e-3);
    for (const auto& column : kColumns) {
      if (!known(column.second)) continue;
      const ordered_json value = percentile(*histogram, column.second);
      text +=
          value.is_null() ? fmt::format(" {:>9}", "") : fmt::format(" {:>9.2f}", value.get<double>() * 1e-3);
    }
    text += fmt::format(" {:>9.2f}\n", histogram->max_us() * 1e-3);
  }
  return text;
}

/// A row for each sink that did not get all results: what it got.
std::string sink_rows(const RunReport& report) {
  std::string text;
  for (const SinkOutcome& sink : report.sinks) {
    if (sink.dropped + sink.missed == 0) continue;
    text += fmt::format("sink      {:<22} {} of {} frames", sink.name, sink.written,
                        sink.written + sink.dropped + sink.missed);
    if (sink.dropped > 0) text += fmt::format("; {} dropped, since it was behind", sink.dropped);
    if (sink.missed > 0) text += fmt::format("; {} missed, since it broke", sink.missed);
    text += "\n";
  }
  return text;
}

/// Why a class has no contour: its level, and the greatest value that its maps had.
std::string empty_reason(const ClassCounts& one) {
  if (!one.range) return fmt::format("its level is {}", *one.level);
  return fmt::format("its level is {}, the greatest value in the frames looked at {}",
                     value_text(*one.level, one.range->type),
                     value_text(one.range->greatest, one.range->type));
}

std::string class_rows(const RunReport& report) {
  std::string text;
  for (const ClassCounts& one : report.classes) {
    if (one.level && report.frames.delivered > 0)
      text += fmt::format("class     {:<22} no contour in {} frames; {}\n", one.name, report.frames.delivered,
                          empty_reason(one));
    if (one.contours > 0)
      text += fmt::format("class     {:<22} in {} of {} frames; {:.1f} contours, {:.0f} points a frame\n",
                          one.name, one.frames, report.frames.delivered, a_frame(one.contours, report),
                          a_frame(one.points, report));
  }
  return text;
}

std::string totals_rows(const std::vector<ClassTotals>& totals) {
  std::string text;
  for (const ClassTotals& of : totals) {
    if (of.contours == 0) continue;
    text += fmt::format("total     {:<22} {} contours, area {:.0f} px", of.name, of.contours, of.area);
    if (of.share) text += fmt::format(", {:.2f} % of the whole", 100 * *of.share);
    if (of.mean) text += fmt::format(", mean {:.3f}", *of.mean);
    text += '\n';
  }
  return text;
}

ordered_json totals_json(const std::vector<ClassTotals>& totals) {
  const auto or_null = [](const std::optional<double>& value) {
    return value ? ordered_json(*value) : ordered_json();
  };
  ordered_json list = ordered_json::array();
  for (const ClassTotals& of : totals)
    list.push_back({{"class", of.name},
                    {"contours", of.contours},
                    {"area", of.area},
                    {"perimeter", of.perimeter},
                    {"share", or_null(of.share)},
                    {"mean", or_null(of.mean)}});
  return list;
}

std::string name_of_class(const RunReport& report, std::size_t k) {
  return k < report.classes.size() ? report.classes[k].name : fmt::format("class {}", k);
}

std::string track_rows(const RunReport& report) {
  std::string text;
  for (const StageTracks& stage : report.tracks)
    for (std::size_t k = 0; k < stage.classes.size(); ++k) {
      const TrackCounts& one = stage.classes[k];
      if (one.births == 0) continue;
      text += fmt::format("track     {:<22} {} births, {} deaths", name_of_class(report, k), one.births,
                          one.deaths);
      if (one.forgotten > 0) text += fmt::format(", {} forgotten for want of room", one.forgotten);
      text += '\n';
    }
  return text;
}

/// "7 fruit; 3 with rot over 2 %".
std::string object_rows(const RunReport& report) {
  std::string text;
  for (const ObjectTotals& of : report.objects) {
    std::vector<std::string> over;
    for (const ObjectTotals::Over& one : of.over)
      if (one.objects > 0)
        over.push_back(fmt::format("{} with {} over {:.4g} %", one.objects, one.name, 100 * of.threshold));
    if (over.empty() && of.objects > 0) over.push_back(fmt::format("none over {:.4g} %", 100 * of.threshold));
    text += fmt::format("objects   {} {}{}{}\n", of.objects, of.name, over.empty() ? "" : "; ",
                        fmt::join(over, ", "));
    if (of.never_whole > 0)
      text += fmt::format("          {} of them never seen whole, so without shares\n", of.never_whole);
    if (of.views_left_out > 0)
      text += fmt::format("          {} views of others left out for want of room (max_objects)\n",
                          of.views_left_out);
  }
  return text;
}

ordered_json objects_json(const RunReport& report) {
  ordered_json list = ordered_json::array();
  for (const ObjectTotals& of : report.objects) {
    ordered_json over = ordered_json::array();
    for (const ObjectTotals::Over& one : of.over)
      over.push_back({{"class", one.name}, {"objects", one.objects}});
    list.push_back({{"stage", of.stage},
                    {"object", of.name},
                    {"objects", of.objects},
                    {"never_whole", of.never_whole},
                    {"views_left_out", of.views_left_out},
                    {"threshold", of.threshold},
                    {"over", over}});
  }
  return list;
}

std::string network_rows() {
  std::string text;
  for (const NetworkUsed& one : networks_used())
    text += fmt::format("network   {} by {} {}\n", printable(one.model), one.engine, one.version);
  return text;
}

ordered_json networks_json() {
  ordered_json list = ordered_json::array();
  for (const NetworkUsed& one : networks_used())
    list.push_back(
        {{"model", one.model}, {"engine", one.engine}, {"version", one.version}, {"sha256", one.sha256}});
  return list;
}

/// Its name, and which one it is where there are several.
void add_device(ordered_json& json, int device) {
  const std::vector<DeviceInfo>& devices = device_report().devices;
  for (const DeviceInfo& one : devices)
    if (one.index == device) json["device"] = one.name;
  if (devices.size() > 1) json["device_index"] = device;
}

/// Masks passwords in every text of the report: the graph, the source, reasons, what sinks made.
void mask_passwords(ordered_json& json) {
  if (json.is_string()) json = masked(json.get<std::string>());
  if (json.is_structured())
    for (ordered_json& part : json) mask_passwords(part);
}

}  // namespace

ordered_json frames_object(const FrameCounts& frames) {
  return {{"in", frames.offered},
          {"out", frames.delivered},
          {"failed", frames.failed},
          {"dropped",
           {{"total", frames.dropped()},
            {"ring_full", frames.dropped_ring_full},
            {"deadline", frames.dropped_deadline},
            {"thinned", frames.dropped_thinned},
            {"aborted", frames.dropped_aborted}}},
          {"late", frames.late},
          {"regrown", frames.regrown}};
}

ordered_json report_object(const RunReport& report) {
  ordered_json json = {
      {"source", report.source},
      {"backend", name_of(report.backend)},
      {"backend_reason",
       report.backend_reason.empty() ? ordered_json() : ordered_json(report.backend_reason)},
      {"fallback", report.fell_back},
      {"slots", report.slots},
      {"threads", report.threads},
      {"on_full", name_of(report.on_full)},
      {"bytes_per_slot", report.bytes_per_slot},
      {"interrupted", report.interrupted},
      {"frames", frames_object(report.frames)},
      {"wall_seconds", report.wall_seconds},
      {"frames_per_second", report.rate()},
      {"live", report.live},
      {"source_frames_per_second",
       report.source_rate > 0 ? ordered_json(report.source_rate) : ordered_json()},
      {"input_frames_per_second", report.input_rate > 0 ? ordered_json(report.input_rate) : ordered_json()},
      {"deadline_ms", report.deadline_ms > 0 ? ordered_json(report.deadline_ms) : ordered_json()},
      {"held", report.held() ? ordered_json(*report.held()) : ordered_json()},
      {"latency_us", {{"end_to_end", latency(report.end_to_end)}}},
  };
  if (report.backend == Backend::Cuda) add_device(json, report.device);
  for (const Timing& part : report.parts) json["latency_us"]["parts"][part.name] = latency(part.histogram);
  for (const SinkOutcome& sink : report.sinks)
    json["latency_us"]["sinks"][sink.name] = {{"queued", latency(sink.queued)},
                                              {"writing", latency(sink.writing)},
                                              {"end_to_end", latency(sink.end_to_end)}};
  json["classes"] = ordered_json::array();
  for (const ClassCounts& one : report.classes)
    json["classes"].push_back(
        {{"name", one.name},
         {"points", one.points},
         {"contours", one.contours},
         {"frames", one.frames},
         {"greatest_value", one.range ? ordered_json(one.range->greatest) : ordered_json()},
         {"points_per_frame", a_frame(one.points, report)},
         {"contours_per_frame", a_frame(one.contours, report)}});
  json["tracks"] = ordered_json::array();
  for (const StageTracks& stage : report.tracks)
    for (std::size_t k = 0; k < stage.classes.size(); ++k)
      json["tracks"].push_back({{"stage", stage.stage},
                                {"class", name_of_class(report, k)},
                                {"births", stage.classes[k].births},
                                {"deaths", stage.classes[k].deaths},
                                {"forgotten", stage.classes[k].forgotten}});
  json["objects"] = objects_json(report);
  if (ordered_json networks = networks_json(); !networks.empty()) json["networks"] = std::move(networks);
  json["levels"] = ordered_json::array();
  for (std::size_t level = 0; level < report.levels.size(); ++level)
    json["levels"].push_back(
        {{"level", level}, {"step", report.levels[level].name}, {"frames", report.levels[level].frames}});
  json["failures"] = ordered_json::array();
  for (const FrameFailure& failure : report.failures)
    json["failures"].push_back({{"frame", failure.frame}, {"reason", failure.reason}});
  json["source_faults"] = ordered_json::array();
  for (const SourceFault& fault : report.source_faults)
    json["source_faults"].push_back(
        {{"missing", fault.missing < 0 ? ordered_json() : ordered_json(fault.missing)},
         {"reason", fault.sentence}});
  json["source_reconnections"] = report.source_reconnections;
  json["sinks"] = ordered_json::array();
  for (const SinkOutcome& sink : report.sinks) {
    json["sinks"].push_back(
        {{"name", sink.name},
         {"frames", {{"written", sink.written}, {"dropped", sink.dropped}, {"missed", sink.missed}}},
         {"made", sink.summary},
         {"error", sink.error.empty() ? ordered_json() : ordered_json(sink.error)}});
    if (!sink.totals.empty()) json["sinks"].back()["totals"] = totals_json(sink.totals);
  }
  return json;
}

ordered_json report_head(const std::string& graph_file, const std::string& graph_text) {
  return {{"contorno", CONTORNO_VERSION},
          {"commit", build_commit()},
          {"graph", {{"file", graph_file}, {"text", graph_text}}}};
}

std::string report_lines(ordered_json json) {
  mask_passwords(json);
  return json.dump(2, ' ', false, nlohmann::detail::error_handler_t::replace) + "\n";
}

std::string report_json(const RunReport& report, const std::string& graph_file,
                        const std::string& graph_text) {
  ordered_json json = report_head(graph_file, graph_text);
  json.update(report_object(report));
  return report_lines(std::move(json));
}

std::string report_text(const RunReport& report) {
  std::string text = frames_rows(report) + held_row(report) + level_row(report) + latency_rows(report) +
                     sink_rows(report) + class_rows(report) + track_rows(report) + object_rows(report) +
                     network_rows();
  for (const SourceFault& fault : report.source_faults)
    text += fmt::format("{:<9} {}\n", fault.missing == 0 ? "damaged" : "missing",
                        printable_sentence(fault.sentence));
  for (const SinkOutcome& sink : report.sinks) {
    text += totals_rows(sink.totals);
    if (!sink.summary.empty()) text += fmt::format("made      {}\n", printable_sentence(sink.summary));
    if (!sink.error.empty())
      text += fmt::format("error     sink '{}': {}\n", sink.name, printable_sentence(sink.error));
  }
  return text;
}

}  // namespace contorno
