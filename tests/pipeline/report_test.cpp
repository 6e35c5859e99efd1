// What a run says of itself: its numbers, in their units, and who is told of which frame.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/run/runner.h"
#include "pipeline/shared/clock.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

struct Noted {
  RunReport report;
  std::vector<FrameTimes> times;
  std::vector<PartTimes> parts;
  std::vector<std::uint64_t> failed, ring_full, too_late;
  std::vector<std::string> warnings;
};

Noted run(const GraphSpec& graph, fake::CountingSource& source, fake::CollectingSink& sink,
          RunOptions options = {}) {
  Noted noted;
  options.on_times = [&](const FrameTimes& times) {
    noted.times.push_back(times);
    if (times.parts != nullptr) noted.parts.push_back(*times.parts);
  };
  options.on_failure = [&](const FrameFailure& failure) { noted.failed.push_back(failure.frame); };
  options.on_drop = [&](std::uint64_t frame, DropReason reason) {
    (reason == DropReason::RingFull ? noted.ring_full : noted.too_late).push_back(frame);
  };
  options.on_warning = [&](std::uint64_t frame, const std::string& warning) {
    noted.warnings.push_back(std::to_string(frame) + ": " + warning);
  };
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, options);
  noted.report = runner.run();
  return noted;
}

/// Works on its two parts by turns: three times 1 ms on the first, and 3 ms on the second.
struct ByTurns final : Stage {
  void plan(PlanContext& context) override { context.set_output(0, context.input(0)); }
  void run(const RunContext& context) const override {
    for (int turn = 0; turn < 3; ++turn) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      context.end_part(0);
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      context.end_part(1);
    }
  }
};

}  // namespace

TEST_CASE("the parts of a stage have times of their own, also where they take turns") {
  StageType type = fake::copy_stage();
  type.make_cpu = [](const ParamSet&) -> std::unique_ptr<Stage> { return std::make_unique<ByTurns>(); };
  type.parts = {{"first", "Is first."}, {"second", "Is second."}};
  GraphSpec graph = fake::copy_graph();
  graph.nodes[0].type = graph.nodes[1].type = &type;
  graph.nodes[1].part_names = {"a", "b"};
  fake::CountingSource source(3);
  fake::CollectingSink sink;
  const Noted noted = run(graph, source, sink, {.probe_every = 2});
  std::vector<std::string> names;
  for (const Timing& part : noted.report.parts) names.push_back(part.name);
  CHECK(names ==
        std::vector<std::string>{"queue", "upload", "one.first", "one.second", "a", "b", "download"});
  CHECK(noted.parts.size() == 2);
  for (const PartTimes& parts : noted.parts) {
    REQUIRE(parts.part_ns.size() == 4);
    std::int64_t before = parts.uploaded_ns;
    for (std::size_t part = 0; part < 4; ++part) {
      CHECK(parts.part_ns[part] - before >= (part % 2 == 0 ? 3'000'000 : 9'000'000));
      before = parts.part_ns[part];
    }
    CHECK(parts.downloaded_ns == before);
  }
}

TEST_CASE("a run lags by the age of its oldest frame without a result, and owes none when it is over") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  fake::CountingSource source(6);
  source.bad = [](std::uint64_t number) { return number == 2; };
  fake::CollectingSink sink;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {});
  CHECK(runner.lag_ns(now_ns()) == 0);
  constexpr std::int64_t kLater = 5'000'000'000;
  fake::behaviour.on_run = [&](std::uint32_t number) {
    if (number != 3) return;
    source.wait_until_given(5);
    CHECK(runner.lag_ns(now_ns() + kLater) >= kLater);
  };
  runner.run();
  fake::behaviour = {};
  CHECK(runner.lag_ns(now_ns() + kLater) == 0);
}

TEST_CASE("a report says what ran, of which source, at which rates") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  graph.settings.deadline_ms = 3'600'000;
  graph.settings.on_full = OnFull::Wait;
  fake::CountingSource source(40, true);
  source.declare_rate(30000, 1001);
  fake::CollectingSink sink;
  const Noted noted = run(graph, source, sink);
  const RunReport& report = noted.report;
  CHECK(report.backend == Backend::Cpu);
  CHECK(report.source == "counting");
  CHECK(report.live);
  CHECK(report.source_rate == doctest::Approx(29.97002997).epsilon(1e-9));
  CHECK(report.deadline_ms == 3'600'000);
  CHECK(report.slots == 3);
  CHECK(report.threads == 1);
  CHECK(report.on_full == OnFull::Wait);
  CHECK(report.bytes_per_slot > 0);
  CHECK_FALSE(report.interrupted);
  std::vector<std::string> parts;
  for (const Timing& part : report.parts) parts.push_back(part.name);
  CHECK(parts == std::vector<std::string>{"queue", "upload", "one", "two", "download"});
  // All of it within the deadline of an hour.
  CHECK(report.frames.late == 0);
  CHECK(report.frames.dropped() == 0);
  // By the times at which frames came.
  REQUIRE(noted.times.size() == 40);
  const double arriving_s =
      static_cast<double>(noted.times.back().arrived_ns - noted.times.front().arrived_ns) * 1e-9;
  CHECK(report.input_rate == doctest::Approx(39 / arriving_s).epsilon(1e-9));
  CHECK(report.wall_seconds >= arriving_s);
  CHECK(report.rate() == doctest::Approx(40 / report.wall_seconds).epsilon(1e-9));
}

TEST_CASE("the times of a frame follow each other, and are those that the report sums up") {
  const GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(30);
  fake::CollectingSink sink;
  const Noted noted = run(graph, source, sink);
  REQUIRE(noted.times.size() == 30);
  REQUIRE(noted.parts.size() == 30);
  double longest_us = 0, longest_queued_us = 0;
  for (std::size_t i = 0; i < 30; ++i) {
    const FrameTimes& times = noted.times[i];
    const PartTimes& parts = noted.parts[i];
    CHECK(times.frame == i);
    if (i > 0) CHECK(times.arrived_ns >= noted.times[i - 1].arrived_ns);
    const std::int64_t launched = times.arrived_ns + times.queued_ns,
                       finished = times.arrived_ns + times.latency_ns;
    REQUIRE(parts.part_ns.size() == 2);
    const std::vector<std::int64_t> way{times.arrived_ns,    launched,         parts.start_ns,
                                        parts.uploaded_ns,   parts.part_ns[0], parts.part_ns[1],
                                        parts.downloaded_ns, finished};
    CHECK(std::is_sorted(way.begin(), way.end()));
    longest_us = std::max(longest_us, static_cast<double>(times.latency_ns) * 1e-3);
    longest_queued_us = std::max(longest_queued_us, static_cast<double>(times.queued_ns) * 1e-3);
  }
  CHECK(noted.report.end_to_end.count() == 30);
  CHECK(noted.report.end_to_end.max_us() == doctest::Approx(longest_us).epsilon(1e-9));
  for (const Timing& part : noted.report.parts) CHECK(part.histogram.count() == 30);
  CHECK(noted.report.parts[0].histogram.max_us() == doctest::Approx(longest_queued_us).epsilon(1e-9));
}

TEST_CASE("the first hundred failures are kept with their reasons, and all are counted and told") {
  const GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(250);
  source.announce(250);
  source.bad = [](std::uint64_t number) { return number % 2 == 1; };
  fake::CollectingSink sink;
  const Noted noted = run(graph, source, sink);
  CHECK(noted.report.frames.failed == 125);
  REQUIRE(noted.failed.size() == 125);
  for (std::size_t i = 0; i < 125; ++i) CHECK(noted.failed[i] == 2 * i + 1);
  REQUIRE(noted.report.failures.size() == RunReport::kMaxFailures);
  CHECK(noted.report.failures.back().frame == 199);
  CHECK(noted.report.failures.back().reason == "planted");
}

TEST_CASE("each frame that is dropped is told once, with the reason") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  SUBCASE("because no slot was free") {
    fake::CountingSource source(100, true);
    fake::CollectingSink sink;
    sink.before_write = [&] { source.wait_until_given(100); };
    const Noted noted = run(graph, source, sink);
    CHECK(noted.report.frames.dropped_ring_full == noted.ring_full.size());
    CHECK(noted.ring_full.size() > 90);
    CHECK(noted.too_late.empty());
    std::vector<std::uint64_t> all = noted.ring_full;
    all.insert(all.end(), sink.frames.begin(), sink.frames.end());
    std::sort(all.begin(), all.end());
    REQUIRE(all.size() == 100);
    for (std::size_t i = 0; i < 100; ++i) CHECK(all[i] == i);
  }
  SUBCASE("because it waited for longer than the deadline, and not because of a stage that took longer") {
    graph.settings.deadline_ms = 1e-6;  // a nanosecond: what waits at all waits longer
    fake::CountingSource source(20);
    fake::CollectingSink sink;
    const Noted noted = run(graph, source, sink);
    CHECK(noted.report.frames.dropped_deadline == noted.too_late.size());
    CHECK(noted.too_late.size() + sink.frames.size() == 20);
    CHECK(noted.report.frames.late == sink.frames.size());
    CHECK(noted.ring_full.empty());
  }
}

TEST_CASE("what a source warns of is told of its frame, and of no later one in that slot") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 2;
  fake::CountingSource source(12);
  source.warns = [](std::uint64_t number) { return number == 3 || number == 4; };
  fake::CollectingSink sink;
  const Noted noted = run(graph, source, sink);
  CHECK(noted.warnings == std::vector<std::string>{"3: odd", "4: odd"});
  CHECK(noted.report.frames.delivered == 12);
}

TEST_CASE("a run has kept up unless something was dropped or late, or its live source was too slow to tell") {
  RunReport report;
  CHECK(report.held() == true);
  report.live = true, report.source_rate = 50, report.input_rate = 46;
  CHECK(report.held() == true);
  report.input_rate = 44;
  CHECK(report.held() == std::nullopt);
  report.live = false;
  CHECK(report.held() == true);
  for (std::uint64_t FrameCounts::*count :
       {&FrameCounts::dropped_ring_full, &FrameCounts::dropped_deadline, &FrameCounts::late}) {
    RunReport lost;
    lost.frames.*count = 1;
    CHECK(lost.held() == false);
  }
}
