#include "tools/latency/verdicts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "config/numbers.h"
#include "pipeline/graph/param.h"
#include "tools/latency/quantity.h"

namespace contorno::latency {
namespace {

constexpr std::array<std::string_view, 4> kTimes{"min", "mean", "max", "jitter"};
constexpr std::array<std::string_view, 4> kCounts{"misses", "dropped", "failed", "late"};
constexpr std::string_view kAllowed =
    "wanted FIGURE<LIMIT with min, mean, max, jitter or a percentile such as p99.9 and a time with its unit "
    "(p99<100ms, STAGE.p50<=3ms), or misses, dropped, failed or late and a number or share (misses<=0.1%)";

template <class List>
bool among(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// 0.99 of "p99"; nothing where the text is no percentile.
std::optional<double> share_of(std::string_view figure) {
  if (!figure.starts_with('p')) return std::nullopt;
  const std::optional<double> percent = config::parse_number(figure.substr(1));
  if (!percent || *percent <= 0 || *percent >= 100) return std::nullopt;
  return *percent / 100;
}

bool is_time(std::string_view figure) {
  return among(kTimes, figure) || share_of(figure).has_value();
}

std::string ms_text(double ms) {
  return std::isinf(ms) ? "infinite, as frames have no result" : fmt::format("{:.4g} ms", ms);
}

std::string too_few(double share, std::uint64_t have) {
  return fmt::format("n/a (needs {} frames, have {})", frames_needed(share), have);
}

/// The sinks that keep a frame for longer than it takes the next one to come, the slowest first, as a part of
/// a sentence; empty where there is none. One that shows frames at their times keeps each for as long as
/// that.
std::string slow_sinks(const LatencyReport& report) {
  constexpr double kMoreThanPace = 1.1;
  const double interval_ms = report.settings.rate > 0 ? 1e3 / report.settings.rate : 0;
  const bool is_pipeline = report.settings.mode == Mode::Pipeline;
  std::vector<const Row*> slow;
  for (const Row& row : report.rows)
    if (row.kind == RowKind::Sink && row.times.name().starts_with(kInSink) == is_pipeline &&
        row.times.mean_ms() > kMoreThanPace * interval_ms)
      slow.push_back(&row);
  if (interval_ms == 0 || slow.empty()) return "";
  std::stable_sort(slow.begin(), slow.end(),
                   [](const Row* a, const Row* b) { return a->times.mean_ms() > b->times.mean_ms(); });
  std::string text;
  for (const Row* row : slow) {
    const std::string& name = row->times.name();
    text += fmt::format("{}{} keeps a frame for {:.4g} ms on average", text.empty() ? "" : ", ",
                        is_pipeline ? name.substr(kInSink.find("sink")) : name, row->times.mean_ms());
  }
  return fmt::format("; {}, but frames come every {:.4g} ms", text, interval_ms);
}

/// What made frames miss, as far as it is known.
std::string blame(const LatencyReport& report) {
  return (report.held_up.empty() ? "" : "; " + report.held_up) + slow_sinks(report);
}

/// Whether frames held their deadline, and a sentence that says by how much.
struct Held {
  bool held = false;
  double share_missed = 0;
  std::string sentence;
};

Held held_by(const CameraFigures& camera, const Distribution& times, double hold_share) {
  const Tally& frames = camera.frames;
  if (frames.offered == 0) return {.sentence = "no frame was offered after the warm-up"};
  // The tiny part keeps 0.001 * 1000 from being less than 1.
  const double allowed = (1 - hold_share) * static_cast<double>(frames.offered) + 1e-9;
  const bool held = static_cast<double>(frames.misses()) <= allowed;
  std::string sentence = fmt::format(
      "{:g} ms {} at {:g} frames/s: {} of {} frames missed it (in the long run at most {:.2g} %, at 95 % "
      "confidence)",
      camera.deadline_ms, held ? "held" : "not held", camera.rate, frames.misses(), frames.offered,
      100 * most_misses(frames.misses(), frames.offered));
  const Percentile at = times.percentile(hold_share, frames.missing());
  if (at.state == Percentile::State::Known)
    sentence += fmt::format("; p{:g} {:.4g} ms, {:.4g} ms {}", 100 * hold_share, at.ms,
                            std::abs(camera.deadline_ms - at.ms),
                            at.ms <= camera.deadline_ms ? "to spare" : "too late");
  else if (at.state == Percentile::State::TooFew && times.count() > 0)
    sentence += fmt::format("; slowest {:.4g} ms; p{:g} {}", times.max_ms(), 100 * hold_share,
                            too_few(hold_share, frames.offered));
  return {held, frames.misses_per_million() * 1e-6, sentence};
}

/// The verdict on cameras of `sources:`: held where each camera holds its own deadline. Tells of those that
/// do not, else of the one with the most misses, and among these the slowest for its deadline.
Verdict verdict_of_cameras(const LatencyReport& report) {
  constexpr std::size_t kMostTold = 5;
  static const Distribution kNone;
  std::vector<std::string> late;
  std::string nearest_one;
  std::pair<double, double> nearest_by{-1, -1};
  for (const CameraFigures& camera : report.cameras) {
    const Distribution* const row = report.row(row_of_camera(camera.name));
    const Distribution& times = row != nullptr ? *row : kNone;
    const Held held = held_by(camera, times, report.settings.hold_share);
    const std::string told = fmt::format("{}: {}", camera.name, held.sentence);
    if (!held.held) late.push_back(told);
    const std::pair by{held.share_missed, times.max_ms() / camera.deadline_ms};
    if (by > nearest_by) nearest_by = by, nearest_one = told;
  }
  const std::size_t count = report.cameras.size();
  if (late.empty())
    return {Verdict::State::Pass,
            fmt::format("each of {} cameras held its deadline; the nearest to it, {}", count, nearest_one)};
  const std::size_t told = std::min(late.size(), kMostTold);
  return {
      Verdict::State::Fail,
      fmt::format("{} of {} cameras did not hold their deadlines; {}{}{}", late.size(), count,
                  fmt::join(late.begin(), late.begin() + static_cast<std::ptrdiff_t>(told), "; "),
                  told < late.size() ? fmt::format("; and {} more", late.size() - told) : "", blame(report))};
}

}  // namespace

Verdict verdict_of(const LatencyReport& report) {
  const Settings& settings = report.settings;
  const Tally& frames = report.frames;
  if (settings.loop == Loop::Closed)
    return {Verdict::State::None,
            "closed loop, a frame is sent when the one before is done: this says how long a frame takes, not "
            "whether a rate is held" +
                (report.held_up.empty() ? "" : "; " + report.held_up)};
  if (frames.offered == 0) return {Verdict::State::Fail, "no frame was offered after the warm-up"};
  if (!report.cameras.empty()) return verdict_of_cameras(report);
  const Held held = held_by({.rate = settings.rate, .deadline_ms = settings.deadline_ms, .frames = frames},
                            report.counted(), settings.hold_share);
  return {held.held ? Verdict::State::Pass : Verdict::State::Fail,
          held.held ? held.sentence : held.sentence + blame(report)};
}

Assertion::Assertion(const std::string& text, const std::vector<std::string>& rows) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ExitCode::Usage, fmt::format("--assert '{}': {}", text, why));
  };
  const std::optional<Condition> parts = Condition::from(text);
  if (!parts) refuse(std::string(kAllowed));
  condition_ = *parts;
  figure_ = parts->figure;
  // Percentiles and names of stages may have dots.
  for (std::size_t dot = parts->figure.find('.'); dot != std::string::npos && !is_time(figure_);
       dot = parts->figure.find('.', dot + 1))
    if (is_time(parts->figure.substr(dot + 1)))
      row_ = parts->figure.substr(0, dot), figure_ = parts->figure.substr(dot + 1);
  if (is_time(figure_)) {
    const std::optional<double> limit = nanoseconds_from(parts->limit);
    if (!limit) refuse(fmt::format("'{}' is no time with its unit, such as 100ms", parts->limit));
    limit_ = *limit * 1e-6;
    if (!row_.empty() && !rows.empty() && !among(rows, row_)) {
      const std::string near = nearest(row_, rows);
      refuse(fmt::format("there is no part '{}'{}; there are {}", row_,
                         near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near),
                         fmt::join(rows, ", ")));
    }
    return;
  }
  if (!among(kCounts, figure_)) refuse(std::string(kAllowed));
  const std::optional<PlainLimit> limit = plain_limit_from(parts->limit);
  if (!limit) refuse(fmt::format("'{}' is no number of frames and no share such as 0.1%", parts->limit));
  limit_ = limit->value, is_share_ = limit->is_share;
}

Assertion::Found Assertion::time_in(const LatencyReport& report) const {
  const Distribution* times = row_.empty() ? &report.counted() : report.row(row_);
  if (times == nullptr || times->count() == 0) return {false, 0, "n/a (no frame has it)"};
  // For times from end to end, a frame without a result is later than every limit.
  const std::uint64_t missing = row_.empty() ? report.frames.missing() : 0;
  const auto known = [](double ms) { return Found{true, ms, ms_text(ms)}; };
  if (figure_ == "min") return known(times->min_ms());
  if (figure_ == "mean") return known(times->mean_ms());
  if (figure_ == "jitter") return known(times->jitter_ms());
  if (figure_ == "max") return known(missing > 0 ? std::numeric_limits<double>::infinity() : times->max_ms());
  const double share = share_of(figure_).value_or(0.5);
  const Percentile at = times->percentile(share, missing);
  if (at.state == Percentile::State::TooFew) return {false, 0, too_few(share, times->count() + missing)};
  return known(at.state == Percentile::State::Infinite ? std::numeric_limits<double>::infinity() : at.ms);
}

Assertion::Found Assertion::figure_in(const LatencyReport& report) const {
  if (is_time(figure_)) return time_in(report);
  const Tally& frames = report.frames;
  const std::uint64_t count = figure_ == "misses"    ? frames.misses()
                              : figure_ == "dropped" ? frames.dropped()
                              : figure_ == "failed"  ? frames.failed
                                                     : frames.late;
  const double value = static_cast<double>(count);
  if (!is_share_) return {true, value, std::to_string(count)};
  if (frames.offered == 0) return {false, 0, "n/a (no frame)"};
  const double share = value / static_cast<double>(frames.offered);
  return {true, share, fmt::format("{:.4g} %", 100 * share)};
}

Assertion::Answer Assertion::check(const LatencyReport& report) const {
  const Found found = figure_in(report);
  const State state = !found.known                            ? State::TooFew
                      : condition_.holds(found.value, limit_) ? State::Held
                                                              : State::Failed;
  return {state, fmt::format("{}: {}", condition_.text, found.text)};
}

const char* name_of(Assertion::State state) {
  switch (state) {
    case Assertion::State::Held:
      return "held";
    case Assertion::State::Failed:
      return "failed";
    case Assertion::State::TooFew:
      break;
  }
  return "too few frames";
}

const char* name_of(Verdict::State state) {
  switch (state) {
    case Verdict::State::Pass:
      return "PASS";
    case Verdict::State::Fail:
      return "FAIL";
    case Verdict::State::None:
      break;
  }
  return "NONE";
}

}  // namespace contorno::latency
