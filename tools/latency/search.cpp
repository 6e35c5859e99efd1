#include "tools/latency/search.h"

#include <algorithm>
#include <cmath>

#include "tools/interrupt.h"
#include "tools/latency/verdicts.h"

namespace contorno::latency {
namespace {

/// The rate is known within this factor when a search ends.
constexpr double kExact = 1.02;
constexpr double kHighestRate = 100'000;
constexpr int kMostTrials = 24;
/// A search for a rate goes so many times below what a closed loop reaches, and then gives up.
constexpr double kFarthest = 32;

bool interrupted() {
  return InterruptGuard::requested() != 0;
}

class Search {
 public:
  Search(const Bench& bench, const Settings& settings) : bench_(bench), settings_(settings) {}

  /// Whether the deadline is held with this load. A search that was interrupted finds that nothing is.
  bool holds(const Load& load) {
    if (interrupted()) return false;
    const std::vector<Measurement> one{measure(bench_, load)};
    const LatencyReport report = summarise(bench_.graph(), settings_, one, {.worst = 0});
    const bool held = !interrupted() && verdict_of(report).state == Verdict::State::Pass;
    found_.trials.push_back({.rate = load.rate,
                             .cameras = load.cameras,
                             .offered = report.frames.offered,
                             .misses = report.frames.misses(),
                             .p50_ms = report.counted().percentile(0.5).ms,
                             .max_ms = report.counted().max_ms(),
                             .held = held});
    // One that was broken off is reported where nothing was found before it.
    if (held || (interrupted() && !found_.best)) found_.best = one.front();
    return held;
  }
  bool goes_on() const { return !interrupted() && found_.trials.size() < kMostTrials; }
  Searched take() { return std::move(found_); }

 private:
  const Bench& bench_;
  const Settings& settings_;
  Searched found_;
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

/// Frames of the first camera one at a time, as fast as that goes.
Measurement measure_alone(Bench bench, Load load, std::uint64_t probe_every, double duration_s) {
  bench.cameras.resize(1);
  bench.cameras[0].rate = 0;
  bench.fleet = nullptr;
  load.loop = Loop::Closed;
  load.rate = 0;
  load.cameras = 1;
  load.probe_every = probe_every;
  load.warm_up_s = 0.1;
  load.duration_s = duration_s;
  return measure(bench, load);
}

/// Time for some 15 such frames after the warm-up, within reason.
double alone_s(double frame_ms) {
  return std::clamp(1.5 * frame_ms * 1e-3 * static_cast<double>(kWarmUpFrames), 0.4, 5.0);
}

/// The median time of a frame, in ms.
double median_ms(const Bench& bench, const std::vector<Measurement>& measured) {
  return summarise(bench.graph(), {}, measured, {.worst = 0}).counted().percentile(0.5).ms;
}

/// That of a frame alone on its way.
double alone_ms(const Bench& bench, const Load& load, std::uint64_t probe_every, double duration_s) {
  return median_ms(bench, {measure_alone(bench, load, probe_every, duration_s)});
}

}  // namespace

double first_rate(double frame_ms, int cameras) {
  return std::clamp(frame_ms > 0 ? 1e3 / frame_ms / cameras : 10, 0.1, kHighestRate);
}

void step_to_rate(double first, const std::function<bool(double)>& holds,
                  const std::function<bool()>& goes_on) {
  // Frames overlap: more than one after the other is possible.
  const double lowest = first / kFarthest;
  double rate = first, low = 0, high = 0;
  while (goes_on() && (low == 0 || high == 0 || high > low * kExact)) {
    (holds(rate) ? low : high) = rate;
    if (low >= kHighestRate || (low == 0 && high < lowest)) break;
    rate = high == 0 ? std::min(2 * low, kHighestRate) : low == 0 ? high / 2 : std::sqrt(low * high);
  }
}

Searched search_rate(const Bench& bench, const Load& load, const Settings& settings) {
  Search search(bench, settings);
  Load next = load;
  std::vector<Measurement> alone{measure_alone(bench, load, load.probe_every, 1)};
  if (interrupted()) return {.trials = {}, .best = std::move(alone.front())};
  const double frame_ms = median_ms(bench, alone);
  // Where a single frame takes longer, no rate helps.
  if (frame_ms > settings.deadline_ms) return {.trials = {{.p50_ms = frame_ms}}, .best = {}};
  step_to_rate(
      first_rate(frame_ms, load.cameras),
      [&](double rate) {
        next.rate = rate;
        return search.holds(next);
      },
      [&] { return search.goes_on(); });
  return search.take();
}

Searched search_cameras(const Bench& bench, const Load& load, const Settings& settings, int most) {
  Search search(bench, settings);
  Load next = load;
  next.cameras = 1;
  int low = 0, high = most + 1;
  while (search.goes_on() && high - low > 1) {
    (search.holds(next) ? low : high) = next.cameras;
    next.cameras = high > most ? std::min(2 * low, most) : (low + high) / 2;
  }
  return search.take();
}

ProbeCost probe_cost(const Bench& bench, const Load& load, double frame_ms) {
  constexpr int kRounds = 5;
  const double round_s = alone_s(frame_ms);
  std::vector<double> with, without, percent;
  for (int round = 0; round < kRounds; ++round) {
    // The order changes, so that a machine that becomes slower favours none.
    double off = 0, on = 0;
    if (round % 2 == 0) off = alone_ms(bench, load, kNoFrame, round_s);
    on = alone_ms(bench, load, kEveryFrame, round_s);
    if (round % 2 != 0) off = alone_ms(bench, load, kNoFrame, round_s);
    if (off <= 0 || on <= 0) return {};
    with.push_back(on);
    without.push_back(off);
    percent.push_back(100 * (on / off - 1));
  }
  const auto [least, most] = std::minmax_element(percent.begin(), percent.end());
  return {.rounds = kRounds,
          .without_ms = median_of(without),
          .with_ms = median_of(with),
          .least_percent = *least,
          .median_percent = median_of(percent),
          .most_percent = *most,
          .every = load.probe_every};
}

FrameAllocations frame_allocations(const Bench& bench, const Load& load, double frame_ms,
                                   std::uint64_t (*allocations)()) {
  Bench counting = bench;
  // What remains is the way of a frame to its result. The line of progress would allocate, too.
  counting.with_sinks = false;
  counting.quiet = true;
  counting.allocations = allocations;
  return measure_alone(counting, load, load.probe_every, alone_s(frame_ms)).cameras[0].allocations;
}

}  // namespace contorno::latency
