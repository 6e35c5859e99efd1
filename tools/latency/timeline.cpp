// The slowest frames, each as a chart of when its parts began and ended.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/latency/charts.h"
#include "tools/page.h"

namespace contorno::latency {
namespace {

constexpr double kTimelineWidth = 860, kNames = 170, kValues = 74, kLane = 17, kAxis = 20;
/// Shorter parts are left out, as they are of the table.
constexpr double kShortestSpan_ms = 0.005;
/// How many of the slowest frames are shown unfolded; a click unfolds the others.
constexpr std::size_t kUnfolded = 5;

std::vector<Span> spans_of(const WorstFrame& frame) {
  std::vector<Span> spans = frame.trace;
  std::erase_if(spans, [](const Span& span) { return span.ms < kShortestSpan_ms; });
  return spans;
}

double end_of(const WorstFrame& frame) {
  double end = frame.total_ms;
  for (const Span& span : frame.trace) end = std::max(end, span.begin_ms + span.ms);
  return end;
}

/// Times from 0 to `most_ms`, left to right.
struct TimeAxis {
  double most_ms;
  double x(double ms) const {
    return kNames + (kTimelineWidth - kNames - kValues) * std::max(0.0, ms) / most_ms;
  }
};

std::string ticks(const TimeAxis& axis, double height) {
  std::string text;
  const double step = tick_step(axis.most_ms, 8);
  for (int i = 0; i * step <= axis.most_ms * 1.0001; ++i)
    text += fmt::format(
        R"(<path class="grid" d="M{0:.1f} 0V{1}"/><text class="axis" x="{0:.1f}" y="{2}" text-anchor="middle">{3:g}{4}</text>)",
        axis.x(i * step), height - kAxis, height - 6, i * step, i == 0 ? " ms" : "");
  return text;
}

std::string lane(const LatencyReport& report, const TimeAxis& axis, const Span& span, double y) {
  const double left = axis.x(span.begin_ms), right = axis.x(span.begin_ms + span.ms);
  return fmt::format(
      R"(<rect class="lane" x="{0}" y="{1}" width="{2}" height="{3}"/><text class="axis" x="{4}" y="{5}" text-anchor="end">{6}</text>)"
      R"(<rect x="{7:.2f}" y="{1}" width="{8:.2f}" height="{3}" fill="{9}"><title>{6}: {10:.4g} ms, from {11:.4g} to {12:.4g} ms</title></rect>)"
      R"(<text class="value" x="{13:.1f}" y="{5}">{10:.4g} ms</text>)",
      kNames, y + 1, kTimelineWidth - kNames - kValues, kLane - 3, kNames - 8, y + kLane - 5,
      html_text(span.name), left, std::max(1.0, right - left), colour_of_part(report, span.name), span.ms,
      span.begin_ms, span.begin_ms + span.ms, std::max(1.0, right - left) + left + 5);
}

std::string timeline(const LatencyReport& report, const TimeAxis& axis, const std::vector<Span>& spans) {
  const double height = static_cast<double>(spans.size()) * kLane + kAxis;
  std::string text = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", kTimelineWidth, height);
  std::string lanes;
  for (std::size_t i = 0; i < spans.size(); ++i)
    lanes += lane(report, axis, spans[i], static_cast<double>(i) * kLane);
  text += ticks(axis, height) + lanes;
  if (report.settings.deadline_ms <= axis.most_ms)
    text += fmt::format(R"(<path class="deadline" d="M{:.1f} 0V{}"/>)", axis.x(report.settings.deadline_ms),
                        height - kAxis);
  return text + "</svg>";
}

}  // namespace

std::string timeline_charts(const LatencyReport& report, const std::vector<WorstFrame>& frames) {
  TimeAxis axis{.most_ms = 1e-3};
  for (const WorstFrame& frame : frames) axis.most_ms = std::max(axis.most_ms, end_of(frame));
  std::string text;
  std::size_t drawn = 0;
  for (const WorstFrame& frame : frames) {
    const std::vector<Span> spans = spans_of(frame);
    if (spans.empty()) continue;
    text += fmt::format("<details{}><summary>{}: {:.4g} ms, due at {:.3f} s</summary>{}</details>\n",
                        drawn++ < kUnfolded ? " open" : "", label_of(report, frame), frame.total_ms,
                        frame.due_s, timeline(report, axis, spans));
  }
  return text;
}

}  // namespace contorno::latency
