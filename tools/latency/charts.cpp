#include "tools/latency/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tools/latency/show.h"
#include "tools/page.h"

namespace contorno::latency {
namespace {

constexpr double kWidth = 860, kHeight = 240, kLeft = 64, kRight = 16, kTop = 14, kBottom = 34;
constexpr std::array<const char*, 10> kColours{"#2a6f97", "#e07a1f", "#588157", "#8e6c8a", "#c8553d",
                                               "#3aa6a0", "#b5893d", "#5a6fc0", "#a34b78", "#6b7780"};

/// A frame with axes that begin at 0.
class Chart {
 public:
  Chart(double most_x, double most_y, std::string_view name_x, std::string_view name_y)
      : most_x_(std::max(most_x, 1e-9)), most_y_(std::max(most_y, 1e-9)) {
    text_ = fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", kWidth, kHeight);
    grid_y();
    text_ += fmt::format(R"(<text class="axis" x="{}" y="{}" text-anchor="end">{}</text>)", kWidth - kRight,
                         kHeight - 4, name_x);
    text_ += fmt::format(R"(<text class="axis" x="4" y="10">{}</text>)", name_y);
  }
  double x(double value) const { return kLeft + (kWidth - kLeft - kRight) * value / most_x_; }
  double y(double value) const {
    return kHeight - kBottom - (kHeight - kTop - kBottom) * std::min(value, most_y_) / most_y_;
  }
  void ticks_x() {
    const double step = tick_step(most_x_, 8);
    for (int i = 0; i * step <= most_x_ * 1.0001; ++i) tick_x(i * step, fmt::format("{:g}", i * step));
  }
  void tick_x(double at, std::string_view label) {
    text_ += fmt::format(R"(<text class="axis" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", x(at),
                         kHeight - kBottom + 14, label);
  }
  void deadline_y(double ms) {
    if (ms > most_y_) return;
    text_ += fmt::format(R"(<path class="deadline" d="M{} {:.1f}H{}"/>)", kLeft, y(ms), kWidth - kRight);
  }
  void deadline_x(double ms) {
    if (ms > most_x_) return;
    text_ += fmt::format(R"(<path class="deadline" d="M{:.1f} {}V{}"/>)", x(ms), kTop, kHeight - kBottom);
  }
  void add(const std::string& element) { text_ += element; }
  std::string take() { return text_ + "</svg>"; }

 private:
  void grid_y() {
    const double step = tick_step(most_y_, 5);
    for (int i = 0; i * step <= most_y_ * 1.0001; ++i) {
      const double tick = i * step;
      text_ += fmt::format(
          R"(<path class="grid" d="M{} {:.1f}H{}"/><text class="axis" x="{}" y="{:.1f}" text-anchor="end">{:g}</text>)",
          kLeft, y(tick), kWidth - kRight, kLeft - 6, y(tick) + 4, tick);
    }
  }
  double most_x_, most_y_;
  std::string text_;
};

std::string nothing() {
  return "<p>No frame has a result.</p>";
}

/// The parts that the time is made of: those of sinks only where these count.
bool is_part(const Row& row, Until until) {
  const bool of_sink = row.kind == RowKind::Sink || row.times.name().starts_with("queue of sink ");
  return row.kind != RowKind::EndToEnd && row.kind != RowKind::Camera && row.kind != RowKind::Interval &&
         row.kind != RowKind::Traced && (!of_sink || until == Until::Sinks);
}

using Bar = std::vector<std::pair<std::string, double>>;

std::string bar_row(const LatencyReport& report, const std::string& label, const Bar& bar, double scale,
                    double y) {
  std::string text = fmt::format(R"(<text class="axis" x="128" y="{}" text-anchor="end">{}</text>)", y + 14,
                                 html_text(label));
  constexpr double kLeft = 136;
  // The clock of a device is known within some microseconds only, so a part may come out below 0: then the
  // next one is shorter.
  double drawn = 0, sum = 0;
  for (const auto& [name, ms] : bar) {
    sum += ms;
    const double width = std::max(0.0, sum - drawn);
    text += fmt::format(
        R"(<rect x="{:.2f}" y="{}" width="{:.2f}" height="18" fill="{}"><title>{}: {:.4g} ms</title></rect>)",
        kLeft + drawn * scale, y, width * scale, colour_of_part(report, name), html_text(name), ms);
    drawn += width;
  }
  return text + fmt::format(R"(<text class="axis" x="{:.1f}" y="{}">{:.4g} ms</text>)",
                            kLeft + drawn * scale + 6, y + 14, sum);
}

}  // namespace

double tick_step(double most, int count) {
  const double rough = most / count, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= rough) return factor * power;
  return 10 * power;
}

const char* colour_of_part(const LatencyReport& report, std::string_view name) {
  std::size_t number = 0;
  for (const Row& row : report.rows) {
    if (row.times.name() == name) break;
    if (is_part(row, Until::Sinks)) ++number;
  }
  return kColours.at(number % kColours.size());
}

std::string label_of(const LatencyReport& report, const WorstFrame& frame) {
  return report.settings.cameras > 1
             ? fmt::format("{} #{}", name_of_camera(report, frame.camera, "cam"), frame.frame)
             : fmt::format("#{}", frame.frame);
}

std::string histogram_chart(const LatencyReport& report) {
  const Distribution& times = report.counted();
  if (times.count() == 0) return nothing();
  constexpr int kBars = 80;
  const double most = std::max(times.max_ms(), 1e-3) * 1.02;
  std::array<std::uint64_t, kBars> bars{};
  for (const Histogram::Bucket& bucket : times.histogram().buckets()) {
    const double ms = static_cast<double>(bucket.highest_ns) * 1e-6;
    bars.at(static_cast<std::size_t>(std::clamp(ms / most * kBars, 0.0, kBars - 1.0))) += bucket.count;
  }
  // Square roots, so that single frames can be seen beside thousands.
  const auto height = [](std::uint64_t count) { return std::sqrt(static_cast<double>(count)); };
  const std::uint64_t highest = *std::max_element(bars.begin(), bars.end());
  Chart chart(most, height(highest), "ms", "square root of frames");
  chart.ticks_x();
  for (int bar = 0; bar < kBars; ++bar) {
    const std::uint64_t count = bars.at(static_cast<std::size_t>(bar));
    if (count == 0) continue;
    const double left = chart.x(most * bar / kBars), right = chart.x(most * (bar + 1) / kBars);
    chart.add(fmt::format(
        R"(<rect class="bar" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"><title>{} frames up to {:.4g} ms</title></rect>)",
        left, chart.y(height(count)), std::max(1.0, right - left - 1), chart.y(0) - chart.y(height(count)),
        count, most * (bar + 1) / kBars));
  }
  chart.deadline_x(report.settings.deadline_ms);
  return chart.take();
}

std::string percentile_chart(const LatencyReport& report) {
  const Distribution& times = report.counted();
  if (times.count() == 0) return nothing();
  // The axis is the number of nines: -log10(1 - share).
  const double nines = std::max(1.0, std::log10(static_cast<double>(times.count())));
  Chart chart(nines, times.max_ms() * 1.05, "percentile", "ms");
  for (const auto& [share, name] : {std::pair{0.0, "0"},
                                    {0.5, "p50"},
                                    {0.9, "p90"},
                                    {0.99, "p99"},
                                    {0.999, "p99.9"},
                                    {0.9999, "p99.99"},
                                    {0.99999, "p99.999"}})
    if (-std::log10(1 - share) <= nines * 1.001) chart.tick_x(-std::log10(1 - share), name);
  std::string path;
  std::uint64_t below = 0;
  for (const Histogram::Bucket& bucket : times.histogram().buckets()) {
    const double share = static_cast<double>(below) / static_cast<double>(times.count());
    const double ms = std::min(static_cast<double>(bucket.highest_ns) * 1e-6, times.max_ms());
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", chart.x(-std::log10(1 - share)),
                        chart.y(ms));
    below += bucket.count;
  }
  path += fmt::format("L{:.1f} {:.1f}", chart.x(nines), chart.y(times.max_ms()));
  chart.add(fmt::format(R"(<path class="line" d="{}"/>)", path));
  chart.deadline_y(report.settings.deadline_ms);
  return chart.take();
}

std::string series_chart(const LatencyReport& report) {
  if (report.series.empty()) return nothing();
  double most_ms = 0;
  for (const Bin& bin : report.series) most_ms = std::max(most_ms, bin.max_ms);
  const double width = report.series.size() > 1 ? report.series[1].begin_s - report.series[0].begin_s : 1;
  Chart chart(report.series.back().begin_s + width, most_ms * 1.08, "s after the warm-up", "ms");
  chart.ticks_x();
  std::string path;
  for (const Bin& bin : report.series) {
    const double x = chart.x(bin.begin_s + width / 2);
    if (bin.missed > 0)
      chart.add(fmt::format(
          R"(<path class="missed" d="M{:.1f} {}V{}"><title>{} frames without result</title></path>)", x, kTop,
          kHeight - kBottom, bin.missed));
    if (bin.delivered == 0) continue;
    path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x, chart.y(bin.median_ms));
    chart.add(fmt::format(
        R"(<circle class="most" cx="{:.1f}" cy="{:.1f}" r="2"><title>at {:.3f} s: {} frames, median {:.4g} ms, slowest {:.4g} ms</title></circle>)",
        x, chart.y(bin.max_ms), bin.begin_s, bin.delivered, bin.median_ms, bin.max_ms));
  }
  chart.add(fmt::format(R"(<path class="line" d="{}"/>)", path));
  chart.deadline_y(report.settings.deadline_ms);
  return chart.take();
}

std::string parts_chart(const LatencyReport& report) {
  std::vector<std::string> names;
  Bar medians;
  for (const Row& row : report.rows)
    if (is_part(row, report.settings.until)) {
      names.push_back(row.times.name());
      medians.emplace_back(row.times.name(), row.times.percentile(0.5).ms);
    }
  if (names.empty()) return nothing();
  std::vector<std::pair<std::string, Bar>> bars{{"medians", medians}};
  for (const auto& worst : {report.worst, report.more_worst()})
    for (const WorstFrame& one : worst) bars.emplace_back(label_of(report, one), one.parts_ms);
  double most = 1e-6;
  for (const auto& [label, bar] : bars) {
    double sum = 0;
    for (const auto& part : bar) {
      sum += std::max(0.0, part.second);
      // What stands for the parts of a frame that was not probed has no row.
      if (std::find(names.begin(), names.end(), part.first) == names.end()) names.push_back(part.first);
    }
    most = std::max(most, sum);
  }
  const double scale = (kWidth - 136 - 90) / most;
  constexpr std::size_t kKeysInRow = 4;
  const std::size_t key_rows = (names.size() + kKeysInRow - 1) / kKeysInRow;
  std::string text =
      fmt::format(R"(<svg viewBox="0 0 {} {}" role="img">)", kWidth,
                  static_cast<double>(bars.size()) * 26 + static_cast<double>(key_rows) * 20 + 8);
  for (std::size_t i = 0; i < bars.size(); ++i)
    text += bar_row(report, bars[i].first, bars[i].second, scale, static_cast<double>(i) * 26);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double x = 8 + static_cast<double>(i % kKeysInRow) * 210;
    const std::size_t row = i / kKeysInRow;
    const double y = static_cast<double>(bars.size()) * 26 + static_cast<double>(row) * 20 + 4;
    text += fmt::format(
        R"(<rect x="{}" y="{}" width="12" height="12" fill="{}"/><text class="axis" x="{}" y="{}">{}</text>)",
        x, y, colour_of_part(report, names[i]), x + 18, y + 10, html_text(names[i]));
  }
  return text + "</svg>";
}

}  // namespace contorno::latency
