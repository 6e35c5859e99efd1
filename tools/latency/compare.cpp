#include "tools/latency/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"

namespace contorno::latency {
namespace {

/// Deviations of the normal distribution beyond which 1 % of it lies, on both sides together.
constexpr double kDeviations = 2.5758;
/// Times that are shorter than this are not compared: they are noise of clocks.
constexpr double kLeastCompared_ms = 0.02;
/// A part whose time changes by less than this share of the whole has not changed.
constexpr double kLeastOfWhole = 0.01;

/// Waits are shown in the whole that they are part of: alone they say more of the machine than of the graph.
bool is_compared(RowKind kind) {
  return kind != RowKind::Interval && kind != RowKind::Wait && kind != RowKind::Traced;
}

double two_sided(double deviations) {
  return std::erfc(std::abs(deviations) / std::sqrt(2.0));
}

/// How much the medians of repeats of one measurement differ, as a share; 0 where there are none.
double spread_of_repeats(const LatencyReport& report) {
  if (report.repeats.size() < 2) return 0;
  const auto [low, high] =
      std::minmax_element(report.repeats.begin(), report.repeats.end(),
                          [](const Repeat& a, const Repeat& b) { return a.p50_ms < b.p50_ms; });
  return low->p50_ms > 0 ? high->p50_ms / low->p50_ms - 1 : 0;
}

class Comparer {
 public:
  Comparer(const LatencyReport& before, const LatencyReport& after, double tolerance)
      : before_(before),
        after_(after),
        tolerance_(std::max({tolerance, spread_of_repeats(before), spread_of_repeats(after)})) {}

  void add(const std::string& row, const std::string& name, double before, double after, bool chance,
           const std::string& unit = "ms") {
    Figure figure{.row = row, .name = name, .before = before, .after = after, .unit = unit};
    figure.change = before > 0 ? after / before - 1 : (after > 0 ? HUGE_VAL : 0);
    if (!chance && std::abs(figure.change) > tolerance_)
      figure.state = after > before ? Figure::State::Worse : Figure::State::Better;
    figures_.push_back(std::move(figure));
  }

  void add_row(const Distribution& before, const Distribution& after, bool all_percentiles) {
    if (std::max(before.mean_ms(), after.mean_ms()) < kLeastCompared_ms) return;
    // A part matters by what it adds to the whole.
    const double least = all_percentiles ? 0 : kLeastOfWhole * before_.counted().percentile(0.5).ms;
    const auto small = [&](double a, double b) { return std::abs(a - b) < least; };
    const bool same_ranks = rank_test(before.histogram(), after.histogram()) >= kSignificance;
    const std::string& row = before.name();
    add(row, "mean", before.mean_ms(), after.mean_ms(),
        same_ranks || small(before.mean_ms(), after.mean_ms()));
    for (const NamedPercentile& one : kPercentiles) {
      const Percentile from = before.percentile(one.share), to = after.percentile(one.share);
      if (from.state != Percentile::State::Known || to.state != Percentile::State::Known) continue;
      if (!all_percentiles && one.share > 0.99) continue;
      const auto a = before.interval(one.share, kDeviations), b = after.interval(one.share, kDeviations);
      const bool meet = a.low_ms <= b.high_ms && b.low_ms <= a.high_ms;
      add(row, one.name, from.ms, to.ms, (one.share == 0.5 ? same_ranks : meet) || small(from.ms, to.ms));
    }
  }

  /// Compares the shares of misses, by the test of two proportions with a pooled one.
  void add_misses() {
    const double m = static_cast<double>(before_.frames.offered),
                 n = static_cast<double>(after_.frames.offered);
    if (m == 0 || n == 0) return;
    const double a = static_cast<double>(before_.frames.misses()) / m;
    const double b = static_cast<double>(after_.frames.misses()) / n;
    const double pooled = (a * m + b * n) / (m + n);
    const double deviation = std::sqrt(pooled * (1 - pooled) * (1 / m + 1 / n));
    const bool chance = deviation == 0 ? a == b : two_sided((b - a) / deviation) >= kSignificance;
    add("misses", "per million", 1e6 * a, 1e6 * b, chance, "");
  }

  std::vector<Figure> take() { return std::move(figures_); }

 private:
  const LatencyReport& before_;
  const LatencyReport& after_;
  double tolerance_;
  std::vector<Figure> figures_;
};

std::string differences_of(const LatencyReport& before, const LatencyReport& after) {
  std::string text;
  const auto fact = [](const LatencyReport& report, std::string_view name) {
    const std::string* const value = report.fact(name);
    return value != nullptr ? *value : std::string();
  };
  const auto note = [&](std::string_view what) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", what);
  };
  if (before.settings.graph_text != after.settings.graph_text) note("the graph");
  if (before.settings.overrides != after.settings.overrides) note("--set");
  if (before.settings.source != after.settings.source) note("the source");
  if (before.settings.backend != after.settings.backend) note("the backend");
  if (before.settings.probe_every != after.settings.probe_every) note("--probe-every");
  for (const char* name :
       {"contorno", "build", "system", "processor", "processors", "governor", "device", "CUDA driver"})
    if (fact(before, name) != fact(after, name)) note(name);
  return text;
}

const char* name_of(Figure::State state) {
  switch (state) {
    case Figure::State::Noise:
      return "within noise";
    case Figure::State::Better:
      return "better";
    case Figure::State::Worse:
      break;
  }
  return "WORSE";
}

}  // namespace

double rank_test(const Histogram& one, const Histogram& other) {
  const double m = static_cast<double>(one.count()), n = static_cast<double>(other.count());
  if (m == 0 || n == 0) return 1;
  std::map<std::int64_t, std::pair<double, double>> values;
  for (const Histogram::Bucket& bucket : one.buckets()) values[bucket.highest_ns].first += bucket.count;
  for (const Histogram::Bucket& bucket : other.buckets()) values[bucket.highest_ns].second += bucket.count;
  // Equal values have the mean of their ranks.
  double ranks = 0, below = 0, ties = 0;
  for (const auto& [value, counts] : values) {
    const double here = counts.first + counts.second;
    ranks += counts.first * (below + (here + 1) / 2);
    ties += here * (here * here - 1);
    below += here;
  }
  const double all = m + n;
  const double u = ranks - m * (m + 1) / 2;
  const double variance = m * n / 12 * (all + 1 - ties / (all * (all - 1)));
  if (variance <= 0) return 1;
  const double distance = std::max(0.0, std::abs(u - m * n / 2) - 0.5);
  return two_sided(distance / std::sqrt(variance));
}

bool Comparison::worse() const {
  return std::any_of(figures.begin(), figures.end(),
                     [](const Figure& one) { return one.state == Figure::State::Worse; });
}

Comparison compare(const LatencyReport& before, const LatencyReport& after, double tolerance) {
  std::string difference = difference_of_load(before.settings, after.settings);
  if (difference.empty()) difference = difference_of_cameras(before, after);
  if (!difference.empty())
    throw Error(ExitCode::BadOption,
                fmt::format("--compare: measurements of different loads are not compared ({})", difference));
  Comparer comparer(before, after, tolerance);
  for (const Row& row : before.rows)
    if (const Distribution* other = after.row(row.times.name()); other != nullptr && is_compared(row.kind))
      comparer.add_row(row.times, *other, row.kind == RowKind::EndToEnd || row.kind == RowKind::Camera);
  comparer.add_misses();
  if (before.settings.mode == Mode::Saturate && after.settings.rate > 0)
    // The larger the better: their inverses are times.
    comparer.add("search", "ms a frame", 1e3 / before.settings.rate, 1e3 / after.settings.rate, false);
  if (before.settings.mode == Mode::Cameras)
    comparer.add("search", "1000 / cameras", 1e3 / before.settings.cameras, 1e3 / after.settings.cameras,
                 false, "");
  return {.tolerance = tolerance,
          .input = difference_of_input(before, after),
          .differences = differences_of(before, after),
          .figures = comparer.take()};
}

std::string warning_of(const Comparison& comparison) {
  if (comparison.input.empty()) return "";
  return fmt::format(
      "compare   ANOTHER INPUT than before ({}): what differs may be the data's and not the program's\n",
      comparison.input);
}

std::string table_of(const Comparison& comparison) {
  std::string text =
      fmt::format("compare   {:<24} {:<14} {:>10} {:>10} {:>9}\n", "", "figure", "before", "now", "change");
  for (const Figure& one : comparison.figures)
    text += fmt::format("          {:<24} {:<14} {:>10.4g} {:>10.4g} {:>+8.1f}%  {}\n", one.row, one.name,
                        one.before, one.after, 100 * one.change, name_of(one.state));
  if (!comparison.differences.empty())
    text += fmt::format("          not the same as before: {}\n", comparison.differences);
  return text +
         fmt::format(
             "COMPARED  {}{}: worse or better is what differs by more than {:g} % and than repeats do, "
             "and not by "
             "chance (p < {:g})\n",
             comparison.worse() ? "WORSE" : "not worse", comparison.input.empty() ? "" : ", of another input",
             100 * comparison.tolerance, kSignificance);
}

}  // namespace contorno::latency
