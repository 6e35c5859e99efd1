// What sinks are told of frames that never come: with those that do, every number once, in order.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "pipeline/run/runner.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;
using namespace std::chrono_literals;

namespace {

using Reason = MissingFrames::Reason;

/// Notes what it is told of every number.
class AccountingSink final : public Sink {
 public:
  void open(const SinkContext& context) override { camera = context.camera, graph = context.graph; }
  void write(const FrameInfo& info, const Value&) override {
    if (pause.count() > 0) std::this_thread::sleep_for(pause);
    CHECK(timing.arrived_ns > 0);
    CHECK(timing.finished_ns >= timing.arrived_ns);
    note(info.number, info.number, "written");
  }
  void write_missing(const MissingFrames& missing) override {
    constexpr const char* kWords[] = {"failed", "ring", "deadline", "aborted", "thinned"};
    note(missing.first, missing.last, kWords[static_cast<int>(missing.reason)]);
    if (missing.reason == Reason::Failed) CHECK(!missing.error.empty());
    in_time = in_time || !finished;
  }
  void note_timing(const FrameTiming& given) override { timing = given; }
  void finish() override { finished = true; }

  std::uint64_t count(const std::string& word) const {
    return static_cast<std::uint64_t>(std::count(words.begin(), words.end(), word));
  }

  std::chrono::microseconds pause{0};
  std::string camera;
  const GraphSpec* graph = nullptr;
  FrameTiming timing;
  std::vector<std::string> words;     // by number
  std::atomic<std::size_t> told = 0;  // numbers so far, for other threads
  bool in_order = true, finished = false, in_time = false;

 private:
  void note(std::uint64_t first, std::uint64_t last, const char* word) {
    in_order = in_order && first == words.size() && last >= first && !finished;
    while (words.size() <= last) words.emplace_back(word);
    told = words.size();
  }
};

RunReport run_accounted(AccountingSink& sink, const GraphSpec& graph, Source& source,
                        RunOptions options = {}) {
  Runner runner(graph, source, {{.name = "account", .sink = &sink, .input = {1, 0}}}, options);
  return runner.run();
}

void check_account(const AccountingSink& sink, const RunReport& report) {
  CHECK(sink.in_order);
  CHECK(sink.words.size() == report.frames.offered);
  CHECK(sink.count("written") == report.frames.delivered);
  CHECK(sink.count("failed") == report.frames.failed);
  CHECK(sink.count("deadline") == report.frames.dropped_deadline);
  CHECK(sink.count("ring") + sink.count("aborted") ==
        report.frames.dropped_ring_full + report.frames.dropped_aborted);
}

}  // namespace

TEST_CASE("a sink is told of every frame that fails, also of those behind the last result") {
  for (const int slots : {1, 2, 4}) {
    GraphSpec graph = fake::copy_graph();
    graph.settings.slots = slots;
    fake::CountingSource source(50);
    source.bad = [](std::uint64_t number) { return number % 7 == 3 || number >= 45; };
    AccountingSink sink;
    check_account(sink, run_accounted(sink, graph, source, {.camera = "north"}));
    CHECK(sink.count("failed") == 6 + 5);
    CHECK(sink.camera == "north");
    CHECK(sink.graph == &graph);
  }
}

TEST_CASE("a slow sink behind a live source is told of all that the ring dropped, by every policy") {
  for (const OnFull policy : {OnFull::DropOldest, OnFull::DropNewest}) {
    GraphSpec graph = fake::copy_graph();
    graph.settings.slots = 3;
    graph.settings.on_full = policy;
    fake::CountingSource source(400, true);
    source.pause = 100us;
    source.bad = [](std::uint64_t number) { return number % 11 == 5; };
    AccountingSink sink;
    sink.pause = 3ms;
    const RunReport report = run_accounted(sink, graph, source);
    check_account(sink, report);
    CHECK(sink.count("ring") > 0);
    CHECK(sink.count("aborted") == 0);
  }
}

TEST_CASE("a sink is told of frames behind the deadline") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 4;
  graph.settings.on_full = OnFull::Wait;
  graph.settings.deadline_ms = 5;
  fake::behaviour.on_run = [](std::uint32_t number) {
    if (number % 20 == 10) std::this_thread::sleep_for(20ms);
  };
  fake::CountingSource source(100);
  AccountingSink sink;
  check_account(sink, run_accounted(sink, graph, source));
}

TEST_CASE("failures reach a sink while no frame does") {
  GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(30);
  source.bad = [](std::uint64_t) { return true; };
  AccountingSink sink;
  std::size_t seen = 0;
  RunOptions options;
  source.pause = 2ms;
  options.on_failure = [&](const FrameFailure& failure) {
    if (failure.frame == 29) seen = sink.told;
  };
  check_account(sink, run_accounted(sink, graph, source, options));
  CHECK(seen > 0);
}

TEST_CASE("what was under way when a run was aborted is accounted for") {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = 4;
  fake::CountingSource source(100'000);
  AccountingSink sink;
  sink.pause = 1ms;
  Runner runner(graph, source, {{.name = "account", .sink = &sink, .input = {1, 0}}}, {});
  std::thread stopper([&] {
    source.wait_until_given(20);
    runner.abort();
  });
  const RunReport report = runner.run();
  stopper.join();
  check_account(sink, report);
}
