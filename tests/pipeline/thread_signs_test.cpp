// What a runner says of its threads, while one of them is held up, and what the judge makes of it.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "pipeline/run/fleet.h"
#include "pipeline/run/progress_judge.h"
#include "pipeline/shared/clock.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

/// Holds a thread until it is opened.
class Latch {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    held_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_until_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return held_; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false, open_ = false;
};

/// A source that is held while it is asked for a frame.
class HeldSource final : public Source {
 public:
  HeldSource(Latch& latch, std::uint64_t held_at, bool live)
      : inner_(5, live), latch_(latch), held_at_(held_at) {
    if (!live) inner_.announce(5);
  }
  const StreamFormat& format() const override { return inner_.format(); }
  ReadResult read(FrameInput& input) override {
    if (reads_++ == held_at_) latch_.wait();
    return inner_.read(input);
  }
  void cancel() override { inner_.cancel(); }

 private:
  fake::CountingSource inner_;
  Latch& latch_;
  std::uint64_t held_at_, reads_ = 0;
};

/// Looks at a fleet by a clock that is made up: the hang that is found once its threads have come to rest.
std::string judged(const Fleet& fleet) {
  constexpr std::int64_t kLimit = 10, kLooks = 1000, kRests = 20;
  ProgressJudge judge(kLimit);
  std::int64_t now = 1;
  std::string last;
  // Threads that are not held are given the time to come to where they wait: their steps have to stop.
  for (int look = 0, rests = 0; look < kLooks && rests < kRests; ++look) {
    const std::string hang = judge.look(fleet.threads(), now += kLimit - 1).value_or("");
    rests = hang == last ? rests + 1 : 0;
    last = hang;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return last;
}

}  // namespace

TEST_CASE("a stage or a sink that hangs is found, and none of those that wait for it") {
  for (const bool in_stage : {true, false}) {
    CAPTURE(in_stage);
    Latch latch;
    const GraphSpec graph = fake::copy_graph();
    fake::CountingSource source(50);
    fake::CollectingSink sink;
    bool waits = true;  // the held thread's own
    const auto hold = [&] {
      if (std::exchange(waits, false)) latch.wait();
    };
    if (in_stage)
      fake::behaviour.on_run = [&](std::uint32_t) { hold(); };
    else
      sink.before_write = hold;
    Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {});
    Fleet fleet({&runner});
    fleet.start();
    latch.wait_until_held();
    const std::string hang = judged(fleet);
    CHECK(
        hang.starts_with(in_stage ? "the launcher has made no step" : "the sink 'collect' has made no step"));
    CHECK(hang.ends_with("and is at work"));
    latch.open();
    fleet.wait();
    CHECK(fleet.take(0).frames.delivered == 50);
    CHECK(judged(fleet) == "");
    fake::behaviour = {};
  }
}

TEST_CASE("a sink that waits within its patience does not hang") {
  struct WaitingSink final : Sink {
    void open(const SinkContext& context) override { patience = context.patience; }
    void write(const FrameInfo&, const Value&) override {
      const std::int64_t since = now_ns();
      while (!opened) {
        CHECK_FALSE(patience.ends(since));
        held = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
    void finish() override {}
    Patience patience;
    std::atomic<bool> held = false, opened = false;
  };
  const GraphSpec graph = fake::copy_graph();
  fake::CountingSource source(5);
  WaitingSink sink;
  Runner runner(graph, source, {{.name = "pipe", .sink = &sink, .input = {1, 0}}}, {});
  Fleet fleet({&runner});
  fleet.start();
  while (!sink.held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto steps = [&] { return fleet.threads()[0].threads.back().steps; };
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t before = steps();
    while (steps() == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(fleet.threads()[0].threads.back().activity == Activity::AtWork);
  sink.opened = true;
  fleet.wait();
  CHECK(fleet.take(0).frames.delivered == 5);
}

TEST_CASE("a camera may be silent for ever, and a file may not") {
  for (const bool live : {true, false}) {
    CAPTURE(live);
    Latch latch;
    const GraphSpec graph = fake::copy_graph();
    HeldSource source(latch, 3, live);
    fake::CollectingSink sink;
    Runner runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {});
    Fleet fleet({&runner});
    fleet.start();
    latch.wait_until_held();
    CHECK(judged(fleet).starts_with(live ? "" : "the reader has made no step"));
    CHECK(judged(fleet).empty() == live);
    latch.open();
    fleet.wait();
  }
}
