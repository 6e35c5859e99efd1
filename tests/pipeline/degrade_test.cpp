#include "pipeline/run/degrade.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

using contorno::Degrader;

namespace {

constexpr std::int64_t kDegradeMs = 1'000'000, kDegradeSecond = 1'000'000'000;

/// A camera of 10 frames a second, with a clock of its own. `load` is that of each frame, all of it work.
struct DegradingCamera {
  explicit DegradingCamera(int levels) : degrader(levels) {}
  void frame(double load) {
    now += 100 * kDegradeMs;
    degrader.note_result({.now = now,
                          .level = degrader.level(),
                          .work = static_cast<std::int64_t>(load * 100 * kDegradeMs),
                          .interval = 100 * kDegradeMs});
  }
  void frames(int count, double load) {
    for (int i = 0; i < count; ++i) frame(load);
  }
  /// Frames of this load until the level is another; how many it took.
  int until_change(double load, int most = 100'000) {
    const int before = degrader.level();
    for (int i = 1; i <= most; ++i) {
      frame(load);
      if (degrader.level() != before) return i;
    }
    return -1;
  }
  std::int64_t now = 0;
  Degrader degrader;
};

// The same rules in another way: everything that has happened is kept, and each question is answered from all
// of it.
class Chronicle {
 public:
  explicit Chronicle(int levels) : levels_(levels) { visits_.push_back({}); }

  int level() const { return visits_.back().level; }

  void note_result(const Degrader::Frame& frame) {
    Visit& visit = visits_.back();
    if (frame.level != visit.level) return;
    if (frame.deadline <= 0 && frame.interval <= 0) return;
    const auto none = std::int64_t{1} << 62;
    const double limit = static_cast<double>(
        std::min(frame.deadline > 0 ? frame.deadline : none, frame.interval > 0 ? frame.interval : none));
    visit.loads.push_back(static_cast<double>(frame.wait + frame.work) / limit);
    visit.costs.push_back(static_cast<double>(frame.work) / limit);
    if (visit.loads.size() < 32 || visit.loads.size() % 8 != 0) return;
    visit.looks.push_back({frame.now, p90_of_last(visit.loads)});
    const auto& looks = visit.looks;
    const std::size_t count = looks.size();
    if (count >= 2 && looks[count - 1].load > 0.85 && looks[count - 2].load > 0.85)
      change(frame.now, +1);
    else if (const auto since = below_since(visit);
             since && frame.now - *since >= quiet() && p90_of_last(visit.costs) * ratio(visit.level) < 0.7)
      change(frame.now, -1);
  }
  void note_drop(std::int64_t now) {
    visits_.back().dropped_after = visits_.back().looks.size();
    change(now, +1);
  }
  /// 5 s, doubled for every finer level that was given up within 10 s, set back by one that was held for 4
  /// min.
  std::int64_t quiet() const {
    std::int64_t quiet = 5 * kDegradeSecond;
    for (std::size_t i = 1; i + 1 < visits_.size(); ++i) {
      if (visits_[i].level > visits_[i - 1].level || visits_[i + 1].level < visits_[i].level) continue;
      const std::int64_t held = visits_[i + 1].begin - visits_[i].begin;
      quiet = held < 10 * kDegradeSecond    ? std::min(2 * quiet, 240 * kDegradeSecond)
              : held < 240 * kDegradeSecond ? quiet
                                            : 5 * kDegradeSecond;
    }
    return quiet;
  }

 private:
  struct Look {
    std::int64_t at = 0;
    double load = 0;
  };
  struct Visit {
    int level = 0;
    std::int64_t begin = 0;
    std::vector<double> loads{}, costs{};
    std::vector<Look> looks{};
    std::size_t dropped_after = 0;  // looks
  };

  static double p90_of_last(const std::vector<double>& all) {
    std::vector<double> last(all.end() - static_cast<std::ptrdiff_t>(std::min<std::size_t>(32, all.size())),
                             all.end());
    std::sort(last.begin(), last.end());
    // The least of which at least nine tenths are no greater.
    for (std::size_t i = 0; i < last.size(); ++i)
      if (10 * (i + 1) >= 9 * last.size()) return last[i];
    return 0;
  }
  static std::optional<std::int64_t> below_since(const Visit& visit) {
    std::optional<std::int64_t> since;
    for (std::size_t i = visit.looks.size(); i > visit.dropped_after && visit.looks[i - 1].load < 0.5; --i)
      since = visit.looks[i - 1].at;
    return since;
  }
  double ratio(int level) const {
    for (std::size_t i = visits_.size() - 1; i > 0; --i) {
      const Visit &fine = visits_[i - 1], &coarse = visits_[i];
      if (fine.level != level - 1 || coarse.level != level || coarse.costs.empty()) continue;
      std::vector<double> first = coarse.costs;
      if (first.size() > 32) first.resize(32);
      const double before = p90_of_last(fine.costs), after = p90_of_last(first);
      return before > 0 && after > 0 ? before / after : 1;
    }
    return 1;
  }
  void change(std::int64_t now, int step) {
    const int next = level() + step;
    if (next < 0 || next >= levels_ ||
        (visits_.size() > 1 && now - visits_.back().begin < 2 * kDegradeSecond))
      return;
    visits_.push_back({.level = next, .begin = now});
  }

  int levels_;
  std::vector<Visit> visits_;
};

}  // namespace

TEST_CASE("a level is left for the next coarser one when two looks, 8 frames apart, are over 0.85") {
  DegradingCamera line(4);
  CHECK(line.until_change(0.9) == 40);
  CHECK(line.degrader.level() == 1);
  DegradingCamera just(4);
  CHECK(just.until_change(0.85, 1000) == -1);
  // A tenth of the frames may take as long as they like: 3 of 32, but not 4.
  DegradingCamera outliers(4);
  for (int i = 0; i < 320; ++i) outliers.frame(i % 32 < 3 ? 5 : 0.6);
  CHECK(outliers.degrader.level() == 0);
  for (int i = 0; i < 320; ++i) outliers.frame(i % 32 < 4 ? 5 : 0.6);
  CHECK(outliers.degrader.level() > 0);
}

TEST_CASE("a drop takes the next coarser level at once, but no second one within 2 s") {
  DegradingCamera line(4);
  line.degrader.note_drop(line.now = 50 * kDegradeMs);
  CHECK(line.degrader.level() == 1);
  line.degrader.note_drop(line.now + 2 * kDegradeSecond - 1);
  CHECK(line.degrader.level() == 1);
  line.degrader.note_drop(line.now + 2 * kDegradeSecond);
  CHECK(line.degrader.level() == 2);
  for (int i = 2; i < 9; ++i) line.degrader.note_drop(line.now + 2 * i * kDegradeSecond);
  CHECK(line.degrader.level() == 3);
  // Who lists no steps has one level.
  Degrader alone(1);
  alone.note_drop(0);
  CHECK(alone.level() == 0);
}

TEST_CASE("a finer level comes back after 5 s under 0.5, where it is predicted to cost under 0.7") {
  DegradingCamera line(2);
  REQUIRE(line.until_change(1.2) == 40);
  line.frames(32, 0.6);                       // half of what the finer level cost: it costs twice as much
  CHECK(line.until_change(0.4, 1000) == -1);  // 0.8 there
  // 28 frames until the p90 is 0.3, 4 to the next look; the prediction is what was missing.
  CHECK(line.until_change(0.3) == 32);
  CHECK(line.degrader.level() == 0);
  // Where both cost the same, the load alone decides: the first look below and 5 s.
  DegradingCamera same(2);
  REQUIRE(same.until_change(1) == 40);
  same.frames(32, 1);
  CHECK(same.until_change(0.49) == 32 + 56);
}

TEST_CASE(
    "a finer level that does not hold makes the quiet time longer, up to 4 min, and one that does shorter") {
  DegradingCamera line(2);
  std::vector<std::int64_t> quiet;
  for (int i = 0; i < 9; ++i) {
    line.degrader.note_drop(line.now);
    REQUIRE(line.degrader.level() == 1);
    quiet.push_back(line.degrader.quiet_time() / kDegradeSecond);
    REQUIRE(line.until_change(0.1) > 0);
    line.frames(30, 0.1);  // 3 s
  }
  CHECK(quiet == std::vector<std::int64_t>{5, 10, 20, 40, 80, 160, 240, 240, 240});
  line.frames(10 * 100, 0.1);  // more than 10 s, and less than 4 min
  line.degrader.note_drop(line.now);
  CHECK(line.degrader.quiet_time() == 240 * kDegradeSecond);
  REQUIRE(line.until_change(0.1) > 2400);
  line.frames(10 * 240, 0.1);
  line.degrader.note_drop(line.now);
  CHECK(line.degrader.quiet_time() == 5 * kDegradeSecond);
}

TEST_CASE("what was under way when the level changed, and frames without a limit, count for nothing") {
  DegradingCamera line(3);
  line.degrader.note_drop(line.now);
  for (int i = 0; i < 500; ++i)
    line.degrader.note_result({.now = line.now += 100 * kDegradeMs,
                               .level = 0,
                               .work = kDegradeSecond,
                               .interval = 100 * kDegradeMs});
  for (int i = 0; i < 500; ++i)
    line.degrader.note_result({.now = line.now += 100 * kDegradeMs, .level = 1, .work = kDegradeSecond});
  CHECK(line.degrader.level() == 1);
  // The deadline counts where it is shorter than the interval, or alone.
  for (const std::int64_t interval : {std::int64_t{0}, 100 * kDegradeMs}) {
    DegradingCamera short_of_time(2);
    for (int i = 0; i < 40; ++i)
      short_of_time.degrader.note_result({.now = short_of_time.now += 100 * kDegradeMs,
                                          .wait = 10 * kDegradeMs,
                                          .work = 8 * kDegradeMs,
                                          .deadline = 20 * kDegradeMs,
                                          .interval = interval});
    CHECK(short_of_time.degrader.level() == 1);
  }
}

TEST_CASE(
    "10,000 random traces: never two changes in 2 s, one level at a time, as the rules say in another way") {
  std::mt19937_64 random(20261129);
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random);
  };
  std::uint64_t changes = 0, finer = 0, longest = 0;
  for (int trace = 0; trace < 10'000; ++trace) {
    const int levels = 1 + trace % 4;
    Degrader degrader(levels);
    Chronicle chronicle(levels);
    const double interval_ms = between(5, 400), drops = between(0, 1) < 0.5 ? 0 : between(0, 0.02);
    const auto deadline = static_cast<std::int64_t>(between(0, 1) < 0.5 ? 0 : between(3, 300) * kDegradeMs);
    double load = between(0, 2);
    std::vector<double> cost{1, between(0.3, 1.2), between(0.2, 1), between(0.2, 1)};
    std::int64_t now = 0, changed = -2 * kDegradeSecond;
    for (int frame = 0; frame < 400; ++frame) {
      now += static_cast<std::int64_t>(interval_ms * between(0.5, 1.5) * kDegradeMs);
      if (between(0, 1) < 0.01) load = between(0, 1) < 0.5 ? between(0, 0.4) : between(0.4, 2.5);
      const int before = degrader.level();
      if (between(0, 1) < drops) {
        degrader.note_drop(now), chronicle.note_drop(now);
      } else {
        const double work = interval_ms * load * cost[static_cast<std::size_t>(before)] * between(0.8, 1.2);
        const Degrader::Frame one{
            .now = now,
            .level = between(0, 1) < 0.05 ? 0 : before,
            .wait = static_cast<std::int64_t>(between(0, 0.1) * interval_ms * kDegradeMs),
            .work = static_cast<std::int64_t>(work * kDegradeMs),
            .deadline = deadline,
            .interval = static_cast<std::int64_t>(interval_ms * kDegradeMs)};
        degrader.note_result(one), chronicle.note_result(one);
      }
      const int after = degrader.level();
      REQUIRE(after == chronicle.level());
      REQUIRE(degrader.quiet_time() == chronicle.quiet());
      if (after == before) continue;
      REQUIRE((after >= 0 && after < levels && std::abs(after - before) == 1));
      REQUIRE(now - changed >= 2 * kDegradeSecond);
      changed = now;
      ++changes, finer += after < before ? 1 : 0;
      longest = std::max(longest, static_cast<std::uint64_t>(degrader.quiet_time() / kDegradeSecond));
    }
  }
  // Traces that tell something.
  CHECK(changes > 10'000);
  CHECK(finer > 2'000);
  CHECK(longest >= 20);
}
