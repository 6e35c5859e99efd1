#include "pipeline/run/runner.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

#include "cuda/device.h"
#include "pipeline/shared/loops.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;
using namespace std::chrono_literals;

namespace {

struct Run {
  RunReport report;
  fake::CollectingSink sink;
};

void run(Run& result, const GraphSpec& graph, fake::CountingSource& source, RunOptions options = {}) {
  Runner runner(graph, source, {{.name = "collect", .sink = &result.sink, .input = {1, 0}}}, options);
  result.report = runner.run();
}

void check_accounts(const RunReport& report) {
  const FrameCounts& frames = report.frames;
  CHECK(frames.offered == frames.delivered + frames.failed + frames.dropped());
}

bool sorted_without_repeats(const std::vector<std::uint64_t>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

long resident_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) return std::stol(line.substr(6));
  return 0;
}

}  // namespace

TEST_CASE("as many frames come out as went in, in order, for every number of frames and slots") {
  for (const auto& [slots, waiting] : {std::pair{1, Waiting::Block},
                                       {2, Waiting::Block},
                                       {4, Waiting::Block},
                                       {1, Waiting::Adaptive},
                                       {2, Waiting::Adaptive},
                                       {4, Waiting::Adaptive}})
    for (const std::uint64_t frames : {0, 1, 3, 4, 5, 100}) {
      GraphSpec graph = fake::copy_graph();
      graph.settings.slots = slots;
      graph.settings.waiting = waiting;
      fake::CountingSource source(frames);
      Run result;
      run(result, graph, source);
      check_accounts(result.report);
      REQUIRE(result.report.frames.delivered == frames);
      REQUIRE(result.sink.frames.size() == frames);
      for (std::uint64_t i = 0; i < frames; ++i) {
        CHECK(result.sink.frames[i] == i);
        CHECK(result.sink.payloads[i] == i);
      }
      CHECK(result.sink.finished == 1);
    }
}

TEST_CASE("runs at the same time in one process do not disturb each other") {
  constexpr std::uint64_t kFrames[] = {400, 70, 1, 230};
  const GraphSpec graph = fake::copy_graph();
  std::vector<Run> results(std::size(kFrames));
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < results.size(); ++i)
    threads.emplace_back([&, i] {
      fake::CountingSource source(kFrames[i]);
      run(results[i], graph, source);
    });
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < results.size(); ++i) {
    check_accounts(results[i].report);
    REQUIRE(results[i].sink.payloads.size() == kFrames[i]);
    for (std::uint64_t frame = 0; frame < kFrames[i]; ++frame)
      CHECK(results[i].sink.payloads[frame] == frame);
  }
}

TEST_CASE(
    "the loops of a recording take one thread where it keeps up, and otherwise as many as they are given") {
  struct Case {
    int threads;
    bool live, counted;
    int last;  // that loops take
  };
  const int all = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  for (const auto& [threads, live, counted, last] :
       {Case{.threads = 0, .counted = true, .last = 1},
        {.threads = 0, .counted = false, .last = all},
        {.threads = 0, .live = true, .counted = true, .last = all},
        {.threads = 2, .counted = true, .last = 2}}) {
    GraphSpec graph = fake::copy_graph();
    graph.settings.threads = threads;
    fake::CountingSource source(60, live);
    // Far more than a launch takes, also where its loops are shared out among many threads.
    source.pause = 2ms;
    if (counted) source.announce(60);
    int seen = 0;
    fake::behaviour.on_run = [&](std::uint32_t) { seen = most_loop_threads; };
    Run result;
    run(result, graph, source);
    fake::behaviour.on_run = {};
    CAPTURE(threads);
    CAPTURE(live);
    CAPTURE(counted);
    CHECK(seen == last);
  }
}

TEST_CASE("a slow sink behind a live source drops the oldest frames and counts them") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  fake::CountingSource source(300, true);
  Run result;
  result.sink.before_write = [&] { source.wait_until_given(250); };
  fake::Settled settled;
  source.bad = [&](std::uint64_t number) { return number == 299 && !settled.wait_until(299); };
  run(result, graph, source, settled.options());
  check_accounts(result.report);
  CHECK(result.report.on_full == OnFull::DropOldest);
  CHECK(result.report.frames.offered == 300);
  CHECK(result.report.frames.dropped_ring_full > 200);
  CHECK(sorted_without_repeats(result.sink.frames));
  CHECK(result.sink.frames.back() == 299);
}

TEST_CASE("drop_newest keeps the frames that were queued first") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 3;
  graph.settings.on_full = OnFull::DropNewest;
  fake::CountingSource source(200, true);
  Run result;
  result.sink.before_write = [&] { source.wait_until_given(200); };
  run(result, graph, source);
  check_accounts(result.report);
  CHECK(result.report.frames.dropped_ring_full > 100);
  REQUIRE(result.sink.frames.size() >= 2);
  CHECK(result.sink.frames[0] == 0);
  CHECK(result.sink.frames[1] == 1);
}

TEST_CASE("with the policy wait nothing is dropped however slow the sink is") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.on_full = OnFull::Wait;
  fake::CountingSource source(50, true);
  Run result;
  result.sink.pause = 1ms;
  run(result, graph, source);
  CHECK(result.report.frames.delivered == 50);
  CHECK(result.report.frames.dropped() == 0);
}

TEST_CASE("a burst from a source that then pauses is delivered without loss when it fits the ring") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 8;
  graph.settings.on_full = OnFull::DropNewest;
  fake::CountingSource source(6, true);
  Run result;
  result.sink.pause = 2ms;
  run(result, graph, source);
  CHECK(result.report.frames.delivered == 6);
}

TEST_CASE("frames that waited longer than the deadline are dropped before they are processed") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 4;
  graph.settings.deadline_ms = 2;
  fake::CountingSource source(30);
  fake::behaviour.on_run = [](std::uint32_t) { std::this_thread::sleep_for(3ms); };
  Run result;
  run(result, graph, source);
  check_accounts(result.report);
  CHECK(result.report.frames.dropped_deadline > 0);
  CHECK(result.report.frames.late == result.report.frames.delivered);
}

TEST_CASE("a frame that fails is reported with its number and the stream goes on") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(20);
  source.bad = [](std::uint64_t number) { return number == 3; };
  fake::behaviour.on_run = [](std::uint32_t number) {
    if (number == 7) throw Error(ExitCode::BadData, "seven is refused");
  };
  Run result;
  run(result, graph, source);
  check_accounts(result.report);
  CHECK(result.report.frames.delivered == 18);
  REQUIRE(result.report.failures.size() == 2);
  CHECK(result.report.failures[0].frame == 3);
  CHECK(result.report.failures[0].reason == "planted");
  CHECK(result.report.failures[1].frame == 7);
  CHECK(result.report.failures[1].reason == "seven is refused");
  CHECK(sorted_without_repeats(result.sink.frames));
}

TEST_CASE("a source without end that gives nothing but failures ends the run, one with an end comes to it") {
  Run endless, finite;
  fake::CountingSource source(100'000), counted(5000);
  source.bad = counted.bad = [](std::uint64_t number) { return number >= 7; };
  run(endless, fake::copy_graph(), source);
  check_accounts(endless.report);
  CHECK(endless.report.frames.delivered == 7);
  CHECK(endless.report.frames.failed == 1000);
  REQUIRE(endless.report.source_faults.size() == 1);
  CHECK(endless.report.source_faults[0].sentence ==
        "the run ended early: the source's last 1000 frames failed one after the other, the last with: "
        "planted");
  CHECK(endless.report.source_faults[0].missing == -1);
  counted.announce(5000);
  run(finite, fake::copy_graph(), counted);
  CHECK(finite.report.frames.failed == 4993);
  CHECK(finite.report.source_faults.empty());
}

TEST_CASE("a frame that can be used between bad ones begins their count anew") {
  Run result;
  fake::CountingSource source(3500);
  source.bad = [](std::uint64_t number) { return number % 1000 != 999; };
  run(result, fake::copy_graph(), source);
  check_accounts(result.report);
  CHECK(result.report.frames.delivered == 3);
  CHECK(result.report.frames.failed == 3497);
  CHECK(result.report.source_faults.empty());
}

TEST_CASE("what a source has to say when it ends is in the report") {
  Run result;
  fake::CountingSource source(3);
  source.at_end = {{.sentence = "3 of 5 frames came", .missing = 2}};
  source.reconnected = 2;
  run(result, fake::copy_graph(), source);
  CHECK(result.report.frames.delivered == 3);
  CHECK(result.report.source_faults == source.at_end);
  CHECK(result.report.source_reconnections == 2);
}

TEST_CASE("an error that is no data error ends the run, and sinks are finished all the same") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(100000);
  fake::behaviour.on_run = [](std::uint32_t number) {
    if (number == 5) throw Error(ExitCode::Internal, "broken device");
  };
  fake::CollectingSink sink;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {});
  CHECK_THROWS_WITH_AS(runner.run(), "broken device", Error);
  CHECK(sink.finished == 1);
  // Nothing is lost: what the broken device had under way has failed.
  check_accounts(runner.report());
  CHECK(runner.report().frames.failed > 0);
  CHECK(runner.report().frames.delivered == sink.frames.size());
}

TEST_CASE("a sink that breaks gets no more frames and its error is in the report") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(20);
  fake::CollectingSink good;
  fake::CollectingSink broken;
  broken.fail_at = 4;
  Runner runner(graph, source,
                {{.name = "good", .sink = &good, .input = {1, 0}},
                 {.name = "broken", .sink = &broken, .input = {0, 0}}},
                {});
  const RunReport report = runner.run();
  CHECK(good.frames.size() == 20);
  CHECK(broken.frames.size() == 4);
  CHECK(broken.finished == 1);
  REQUIRE(report.sinks.size() == 2);
  CHECK(report.sinks[1].error == "planted sink error");
  CHECK(report.sinks[1].code == ExitCode::Io);
  CHECK(report.sinks[0].code == ExitCode::Ok);
}

TEST_CASE("an overflowing frame is run again with more capacity, once for all slots, and is counted") {
  GraphSpec graph = fake::copy_graph();
  fake::behaviour.capacity_needed = 1000;
  fake::CountingSource source(40);
  Run result;
  run(result, graph, source);
  CHECK(result.report.frames.delivered == 40);
  CHECK(result.report.frames.regrown == 1);
  CHECK(result.sink.payloads.back() == 39);
}

namespace {

/// Whether every frame that came out had the sum of the numbers of those before it and its own.
void check_sums(const Run& result) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < result.sink.frames.size(); ++i) {
    sum += static_cast<std::uint32_t>(result.sink.frames[i]);
    CHECK(result.sink.payloads[i] == sum);
  }
}

GraphSpec sum_graph(int slots) {
  GraphSpec graph = fake::copy_graph();
  graph.nodes[0].type = &fake::sum_stage();
  graph.settings.slots = slots;
  return graph;
}

}  // namespace

TEST_CASE("a state goes from frame to frame, past those that fail, for any number of slots") {
  for (const int slots : {1, 2, 3, 4}) {
    const GraphSpec graph = sum_graph(slots);
    fake::CountingSource source(60);
    source.bad = [](std::uint64_t number) { return number % 13 == 5; };
    fake::behaviour.on_run = [](std::uint32_t number) {
      if (number % 7 == 4 || number == 0) throw Error(ExitCode::BadData, "planted");
    };
    Run result;
    run(result, graph, source);
    check_accounts(result.report);
    CHECK(result.report.frames.failed > 12);  // the stage behind fails for some sums
    check_sums(result);
  }
}

TEST_CASE("stages of one graph each have a state of their own") {
  for (const int slots : {1, 3}) {
    GraphSpec graph = sum_graph(slots);
    graph.nodes[1].type = &fake::sum_of_thousands_stage();
    fake::CountingSource source(20);
    fake::CollectingSink ones, thousands;
    Runner runner(graph, source,
                  {{.name = "ones", .sink = &ones, .input = {0, 0}},
                   {.name = "thousands", .sink = &thousands, .input = {1, 0}}},
                  {});
    check_accounts(runner.run());
    std::vector<std::uint32_t> sums(20), sums_of_thousands(20);
    for (std::uint32_t i = 1; i < 20; ++i) sums[i] = sums[i - 1] + i, sums_of_thousands[i] = 1000 * sums[i];
    CHECK(ones.payloads == sums);
    CHECK(thousands.payloads == sums_of_thousands);
  }
}

TEST_CASE("a frame that is run again with more capacity begins with the same state") {
  for (const int slots : {1, 2, 4}) {
    const GraphSpec graph = sum_graph(slots);
    fake::CountingSource source(40);
    fake::behaviour.on_run = [](std::uint32_t number) {
      if (number % 10 == 3) fake::behaviour.capacity_needed = std::uint64_t{1000} * (number + 1);
    };
    Run result;
    run(result, graph, source);
    CHECK(result.report.frames.delivered == 40);
    CHECK(result.report.frames.regrown >= 4);
    check_sums(result);
  }
}

TEST_CASE("a state goes past frames that were dropped, and through a change of format") {
  for (const int slots : {2, 4}) {
    GraphSpec graph = sum_graph(slots);
    graph.settings.on_full = OnFull::DropNewest;  // which drops no frame that was launched
    fake::CountingSource source(100, true);
    source.change_at = 50;
    Run result;
    result.sink.before_write = [&] { source.wait_until_given(30); };
    run(result, graph, source);
    check_accounts(result.report);
    CHECK(result.report.frames.dropped_ring_full > 10);
    CHECK(result.sink.widths == std::vector<int>{4, 8});
    check_sums(result);
  }
}

TEST_CASE("a change of format drains the old frames, plans again and opens the sinks anew") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(30);
  source.change_at = 11;
  Run result;
  run(result, graph, source);
  CHECK(result.sink.widths == std::vector<int>{4, 8});
  CHECK(result.report.frames.delivered == 30);
  CHECK(sorted_without_repeats(result.sink.frames));
}

TEST_CASE("frames of a format that the graph cannot take fail, and the stream goes on in the format before") {
  GraphSpec graph = fake::copy_graph();
  fake::behaviour.most_width = 4;
  for (const int slots : {1, 4}) {
    graph.settings.slots = slots;
    fake::CountingSource source(30);
    source.change_at = 11;
    source.change_back_at = 14;
    source.bad = [](std::uint64_t number) { return number == 12; };
    Run result;
    run(result, graph, source);
    check_accounts(result.report);
    CHECK(result.sink.widths == std::vector<int>{4});
    CHECK(result.report.frames.delivered == 27);
    REQUIRE(result.report.failures.size() == 3);
    CHECK(result.report.failures[0].frame == 11);
    CHECK(result.report.failures[0].reason == "node 'one': width is 8, allowed is 4");
    CHECK(result.report.failures[1].reason == "planted");
    CHECK(result.report.failures[2].reason == "'13': node 'one': width is 8, allowed is 4");
    CHECK(result.sink.payloads.back() == 29);
  }
}

TEST_CASE("request_stop finishes what is under way, abort counts it as dropped") {
  for (const bool at_once : {false, true}) {
    GraphSpec graph = fake::copy_graph();
    fake::CountingSource source(~std::uint64_t{0} - 1);
    Run result;
    result.sink.pause = 500us;
    Runner runner(graph, source, {{.name = "collect", .sink = &result.sink, .input = {1, 0}}}, {});
    std::thread stopper([&] {
      std::this_thread::sleep_for(20ms);
      at_once ? runner.abort() : runner.request_stop();
    });
    result.report = runner.run();
    stopper.join();
    check_accounts(result.report);
    CHECK(result.report.interrupted);
    CHECK(result.sink.finished == 1);
    if (!at_once) CHECK(result.report.frames.dropped() == 0);
  }
}

TEST_CASE("the number of frames can be limited") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(1000);
  Run result;
  run(result, graph, source, {.max_frames = 17});
  CHECK(result.report.frames.offered == 17);
  CHECK(result.report.frames.delivered == 17);
}

/// Long enough for a forecast also where sleeping threads are woken some tenths of a millisecond late.
constexpr std::chrono::milliseconds kForecast = 80ms;

TEST_CASE("a frame that comes long after it was due is taken all the same") {
  SlotRing ring(2, OnFull::Wait, Waiting::Adaptive);
  constexpr int kFrames = 9;
  std::thread reader([&] {
    for (int frame = 0; frame < kFrames; ++frame) {
      // The window of the late one is over long before it comes.
      std::this_thread::sleep_for(frame == 7 ? 3 * kForecast : kForecast);
      ring.offer();
    }
  });
  int taken = 0;
  while (taken < kFrames) {
    const std::optional<int> queued = ring.take_queued();
    if (!queued) break;
    ++taken;
    ring.launched(*queued);
    ring.release(ring.take_launched().value());
  }
  CHECK(taken == kFrames);
  ring.stop();
  reader.join();
}

TEST_CASE("stopping wakes threads however they wait") {
  GraphSpec graph = fake::copy_graph();
  std::chrono::microseconds pause = 1ms;
  std::chrono::milliseconds stop_after = 30ms;
  SUBCASE("asleep") {
    graph.settings.waiting = Waiting::Block;
  }
  SUBCASE("in the middle of regular frames") {
    graph.settings.waiting = Waiting::Adaptive;
    pause = kForecast;
    stop_after = 9 * kForecast;  // about when the next frame is due
  }
  fake::CountingSource source(1'000'000, true);
  source.pause = pause;
  fake::CollectingSink sink;
  Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {});
  std::thread stopper([&] {
    std::this_thread::sleep_for(stop_after);
    runner.abort();
  });
  const RunReport report = runner.run();
  stopper.join();
  check_accounts(report);
  CHECK(report.interrupted);
}

TEST_CASE("memory is flat over 100,000 small frames") {
  GraphSpec graph = fake::copy_graph();
  Run warm;
  fake::CountingSource few(2000);
  run(warm, graph, few);
  Run result;
  result.sink.frames.resize(100000);
  result.sink.payloads.resize(100000);
  result.sink.frames.clear();
  result.sink.payloads.clear();
  const long before = resident_kib();
  fake::CountingSource source(100000);
  run(result, graph, source);
  CHECK(result.report.frames.delivered == 100000);
  // 40 bytes a frame would show; less than that is the allocator's and the threads' noise.
  CHECK(resident_kib() - before < 4096);
}

TEST_CASE("a node that needs maps from a source without maps is a configuration error that names both") {
  GraphSpec graph = fake::copy_graph();
  graph.nodes[0].inputs = {Origin{Origin::kSource, 1}};
  fake::CountingSource source(1);
  CHECK_THROWS_WITH_AS(Runner(graph, source, {}, {}),
                       "node 'one' takes the source's class maps, but this source (counting) delivers none",
                       Error);
}

TEST_CASE("cuda by name is an error with a reason where it cannot run, auto takes the cpu") {
  const GraphSpec graph = fake::copy_graph();
  const BackendChoice choice = choose_backend(Backend::Auto, graph);
  CHECK(choice.backend == Backend::Cpu);
  const DeviceReport& device = device_report();
  CHECK(choice.reason == (device.available ? "the stage 'copy' has no CUDA implementation" : device.reason));
  CHECK(choose_backend(Backend::Cpu, graph).reason.empty());
  CHECK_THROWS_AS(choose_backend(Backend::Cuda, graph), Error);
}
