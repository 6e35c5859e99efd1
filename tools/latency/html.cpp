#include <fmt/format.h>

#include <string_view>

#include "tools/latency/charts.h"
#include "tools/latency/show.h"
#include "tools/page.h"

namespace contorno::latency {
namespace {

std::string html_cell(double ms) {
  return fmt::format("<td>{:.4g}</td>", ms);
}

std::string html_cell(const Percentile& at, double share, std::uint64_t have) {
  if (at.state == Percentile::State::Infinite) return "<td>infinite</td>";
  if (at.state == Percentile::State::Known) return html_cell(at.ms);
  return fmt::format(R"(<td title="needs {} frames, have {}">n/a</td>)", frames_needed(share), have);
}

std::string html_row(const std::string& name, const Distribution& times, std::uint64_t missing) {
  std::string text = fmt::format("<tr><td>{}</td>{}{}", html_text(name), html_cell(times.min_ms()),
                                 html_cell(times.mean_ms()));
  for (const NamedPercentile& one : kPercentiles)
    text += html_cell(times.percentile(one.share, missing), one.share, times.count() + missing);
  text += missing > 0 ? "<td>infinite</td>" : html_cell(times.max_ms());
  return text + html_cell(times.jitter_ms()) + "</tr>\n";
}

std::string html_table(const LatencyReport& report) {
  std::string text = "<div class=\"wide\"><table><tr><th>ms</th><th>min</th><th>mean</th>";
  for (const NamedPercentile& one : kPercentiles) text += fmt::format("<th>{}</th>", one.name);
  text += "<th>max</th><th>jitter</th></tr>\n";
  for (const Row& row : report.rows) {
    text += html_row(row.times.name(), row.times, 0);
    if (row.kind == RowKind::EndToEnd && report.frames.missing() > 0)
      text += html_row(row.times.name() + ", without result infinite", row.times, report.frames.missing());
  }
  return text + "</table></div>\n";
}

std::string fact(std::string_view name, const std::string& value) {
  if (value.empty()) return "";
  return fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_text(name), html_text(value));
}

std::string facts_table(const LatencyReport& report) {
  const Settings& settings = report.settings;
  std::string text =
      "<table class=\"facts\">\n" + fact("graph", settings.graph_file) + fact("load", load_text(report));
  for (const CameraFigures& camera : report.cameras)
    text += fact("camera " + camera.name, camera_text(camera, settings.mode));
  text += fact("source", settings.held_frames > 0 ? fmt::format("{}; {} frames of it, held in memory",
                                                                settings.source, settings.held_frames)
                                                  : settings.source);
  if (!settings.backend.empty())
    text += fact("backend", fmt::format("{}, {} threads, {} slots, on_full {}", settings.backend,
                                        settings.threads, settings.slots, settings.on_full));
  text += fact("why this backend", settings.backend_reason);
  text += fact("memory", memory_text(report.memory)) + fact("used", resources_text(report)) +
          fact("allocations", allocations_text(report.allocations)) + fact("probed", probed_text(report)) +
          fact("probes", probe_text(report.probe_cost, settings.deadline_ms));
  for (const auto& [name, value] : report.environment) text += fact(name, value);
  return text + "</table>\n";
}

std::string search_table(const LatencyReport& report) {
  if (report.trials.empty()) return "";
  std::string text =
      "<h2>The search</h2><table><tr><th>frames/s</th><th>cameras</th><th>frames</th><th>missed</th><th>p50 "
      "ms</th>"
      "<th>max ms</th><th>held</th></tr>\n";
  for (const Trial& one : report.trials)
    text += fmt::format(
        "<tr><td>{:.4g}</td><td>{}</td><td>{}</td><td>{}</td><td>{:.4g}</td><td>{:.4g}</td><td>{}</td></"
        "tr>\n",
        one.rate, one.cameras, one.offered, one.misses, one.p50_ms, one.max_ms, one.held ? "yes" : "no");
  return text + "</table>\n";
}

std::string section(std::string_view title, std::string_view note, const std::string& content) {
  return fmt::format("<h2>{}</h2><p class=\"note\">{}</p>\n{}\n", title, note, content);
}

}  // namespace

std::string html_of(const LatencyReport& report, const Judgement& judgement) {
  const std::string title = fmt::format("Latency of {}", report.settings.graph_file);
  std::string text = fmt::format("<h1>{}</h1>\n", html_text(title));
  const char* result = name_of(judgement.verdict.state);
  text += fmt::format("<p class=\"result {}\"><strong>{}</strong> {}</p>\n", result,
                      judgement.verdict.state == Verdict::State::None ? "" : result,
                      html_text(judgement.verdict.sentence));
  for (const Assertion::Answer& answer : judgement.assertions)
    text += fmt::format("<p class=\"result {}\"><strong>{}</strong> {}</p>\n",
                        answer.state == Assertion::State::Held ? "PASS" : "FAIL", name_of(answer.state),
                        html_text(answer.sentence));
  const Tally& frames = report.frames;
  text += fmt::format(
      "<p>{} frames offered = {} delivered + {} dropped ({} {}, {} past the graph's deadline, {} "
      "that the source owed) + {} "
      "failed + {} "
      "in flight; {} late; {:.0f} misses per million, longest run {}.</p>\n",
      frames.offered, frames.delivered, frames.dropped(), frames.ring_full,
      reason_of_drops(report.settings.mode), frames.dropped_deadline, frames.not_sent, frames.failed,
      frames.in_flight, frames.late, frames.misses_per_million(), frames.longest_run);
  text += section("How long frames take", "From when a frame was due. Dashed: the deadline.",
                  histogram_chart(report));
  text += section("Percentiles", "The axis grows by a nine at a time.", percentile_chart(report));
  text +=
      section("Over time", "Line: median; dots: slowest; red: frames without result.", series_chart(report));
  text += section("Where the time goes", "The medians of the parts, and the slowest frames by number.",
                  parts_chart(report));
  if (const std::string timelines = timeline_charts(report, report.worst); !timelines.empty())
    text += section("The slowest frames",
                    "A line a part, from when the frame was due; sinks work beside each other, and the next "
                    "frame, behind the result. All frames on one scale. Dashed: the deadline.",
                    timelines);
  if (const std::string timelines = timeline_charts(report, report.more_worst()); !timelines.empty())
    text += section("The slowest probed frames", "The parts of other frames were not timed.", timelines);
  text += section("Figures", "A percentile needs ten frames beyond it; jitter is the standard deviation.",
                  html_table(report));
  text += search_table(report);
  text += section("Machine, build and settings", "What a figure has to carry.", facts_table(report));
  text += fmt::format("<h2>The graph</h2><pre>");
  std::string_view rest = report.settings.graph_text;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    text += html_text(rest.substr(0, end)) + "\n";
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return html_page(title, "latency", text + "</pre>\n");
}

}  // namespace contorno::latency
