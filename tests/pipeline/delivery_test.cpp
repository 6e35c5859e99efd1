// How frames come to several sinks, each with a thread of its own.
#include "pipeline/run/delivery.h"

#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>
#include <numeric>
#include <thread>

#include "pipeline/run/runner.h"
#include "tests/allocation_counter.h"
#include "tests/pipeline/fakes.h"

using namespace contorno;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::seconds kPatience = 20s;  // of a test that fails

/// Notes what comes, and writes only while its gate is open.
class GatedSink final : public Sink {
 public:
  void open(const SinkContext& context) override {
    note_thread();
    widths.push_back(std::get<ImageFormat>(context.format).width);
  }
  void write(const FrameInfo& info, const Value& value) override {
    note_thread();
    {
      std::unique_lock lock(mutex_);
      ++begun_;
      changed_.notify_all();
      changed_.wait_for(lock, kPatience, [&] { return open_; });
    }
    if (info.number == fail_at) throw Error(ExitCode::Io, "planted sink error");
    payloads.push_back(*std::get<ImageView>(value).row<std::uint32_t>(0));
    const std::lock_guard lock(mutex_);
    frames.push_back(info.number);
    changed_.notify_all();
  }
  void finish() override {
    note_thread();
    if (on_finish) on_finish();
    ++finished;
  }

  void set_open(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    changed_.notify_all();
  }
  /// False when they do not come.
  bool wait_until_begun(std::size_t frames_begun) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return begun_ >= frames_begun; });
  }
  bool wait_until_written(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] { return frames.size() >= count; });
  }
  std::size_t written() {
    const std::lock_guard lock(mutex_);
    return frames.size();
  }

  std::uint64_t fail_at = ~std::uint64_t{0};
  std::function<void()> on_finish;
  std::vector<int> widths;
  std::vector<std::uint64_t> frames;
  std::vector<std::uint32_t> payloads;
  std::vector<std::thread::id> threads;  ///< each once, one after the other
  int finished = 0;

 private:
  void note_thread() {
    if (threads.empty() || threads.back() != std::this_thread::get_id())
      threads.push_back(std::this_thread::get_id());
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = true;
  std::size_t begun_ = 0;
};

SinkBinding bind_image(const char* name, Sink& sink, OnFull on_full = OnFull::Wait) {
  return {.name = name, .sink = &sink, .input = {1, 0}, .settings = {.on_full = on_full}};
}

GraphSpec graph_with(int slots) {
  GraphSpec graph = fake::copy_graph();
  graph.settings.slots = slots;
  return graph;
}

std::vector<std::uint64_t> first_numbers(std::uint64_t count) {
  std::vector<std::uint64_t> all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void check_sink_accounts(const RunReport& report) {
  CHECK(report.frames.offered == report.frames.delivered + report.frames.failed + report.frames.dropped());
  for (const SinkOutcome& sink : report.sinks) {
    CAPTURE(sink.name);
    CHECK(sink.written + sink.dropped + sink.missed == report.frames.delivered);
    CHECK(sink.writing.count() >= sink.written);
    CHECK(sink.queued.count() == sink.writing.count());
    CHECK(sink.end_to_end.count() == sink.writing.count());
  }
}

}  // namespace

TEST_CASE(
    "a fast sink has frame k while a slow one is still at k - 2, and no frame more than there are slots") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(20);
  GatedSink slow, fast;
  slow.set_open(false);
  Runner runner(graph, source, {bind_image("slow", slow), bind_image("fast", fast)}, {});
  RunReport report;
  std::thread running([&] { report = runner.run(); });
  CHECK(slow.wait_until_begun(1));
  CHECK(fast.wait_until_written(3));
  // The reader has the fourth slot, and the slow sink has the others.
  std::this_thread::sleep_for(30ms);
  CHECK(fast.written() == 3);
  CHECK(slow.written() == 0);
  CHECK(runner.progress().delivered == 0);
  slow.set_open(true);
  running.join();
  check_sink_accounts(report);
  CHECK(slow.frames == first_numbers(20));
  CHECK(fast.frames == first_numbers(20));
  CHECK(report.sinks[0].end_to_end.max_us() >= report.sinks[1].end_to_end.min_us());
}

TEST_CASE("every sink gets every frame in order, for every number of slots and sinks") {
  for (const Waiting waiting : {Waiting::Block, Waiting::Adaptive})
    for (int slots = 1; slots <= 4; ++slots)
      for (std::size_t count = 0; count <= 3; ++count) {
        GraphSpec graph = graph_with(slots);
        graph.settings.waiting = waiting;
        fake::CountingSource source(60);
        fake::CollectingSink sinks[3];
        std::vector<SinkBinding> bindings;
        for (std::size_t one = 0; one < count; ++one) {
          sinks[one].pause = one * 100us;
          bindings.push_back(bind_image("sink", sinks[one]));
        }
        Runner runner(graph, source, bindings, {});
        const RunReport report = runner.run();
        check_sink_accounts(report);
        CHECK(report.slots == slots);
        CHECK(report.frames.delivered == 60);
        for (std::size_t one = 0; one < count; ++one) {
          CHECK(sinks[one].frames == first_numbers(60));
          CHECK(
              std::equal(sinks[one].payloads.begin(), sinks[one].payloads.end(), first_numbers(60).begin()));
        }
      }
}

TEST_CASE("a sink is called from one thread of its own, from open to finish") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(30);
  source.change_at = 10;  // opened anew in the middle
  GatedSink first, second;
  Runner runner(graph, source, {bind_image("first", first), bind_image("second", second)}, {});
  runner.run();
  REQUIRE(first.threads.size() == 1);
  REQUIRE(second.threads.size() == 1);
  CHECK(first.threads[0] != second.threads[0]);
  CHECK(first.threads[0] != std::this_thread::get_id());
}

TEST_CASE("a sink that drops never holds the others up, and gets the newest frames when it can take them") {
  for (const auto& [slots, expected] :
       {std::pair<int, std::vector<std::uint64_t>>{1, {0}}, {2, {0}}, {3, {0}}, {4, {0}}, {8, {0, 48, 49}}}) {
    const GraphSpec graph = graph_with(slots);
    fake::CountingSource source(50);
    GatedSink stuck, fast;
    stuck.set_open(false);
    // The first frame is in its hands before the second one comes.
    source.bad = [&](std::uint64_t number) { return number == 1 && !stuck.wait_until_begun(1); };
    Runner runner(graph, source, {bind_image("stuck", stuck, OnFull::DropOldest), bind_image("fast", fast)},
                  {});
    RunReport report;
    std::thread running([&] { report = runner.run(); });
    CHECK(fast.wait_until_written(50));
    stuck.set_open(true);
    running.join();
    CAPTURE(slots);
    check_sink_accounts(report);
    CHECK(report.slots == std::max(slots, 3));
    CHECK(fast.frames == first_numbers(50));
    CHECK(report.sinks[1].dropped == 0);
    CHECK(stuck.frames == expected);
    CHECK(report.sinks[0].dropped == 50 - expected.size());
    // What one sink leaves out is no loss of the pipeline.
    CHECK(report.frames.delivered == 50);
    CHECK(report.held() == true);
  }
}

TEST_CASE("several sinks that drop and do not move leave slots for the rest") {
  for (const OnFull policy : {OnFull::Wait, OnFull::DropOldest}) {
    GraphSpec graph = graph_with(2);
    graph.settings.on_full = policy;
    fake::CountingSource source(400, policy != OnFull::Wait);
    source.pause = policy == OnFull::Wait ? 0us : 200us;
    GatedSink stuck[3], fast;
    std::vector<SinkBinding> bindings{bind_image("fast", fast)};
    for (GatedSink& sink : stuck) {
      sink.set_open(false);
      bindings.push_back(bind_image("stuck", sink, OnFull::DropOldest));
    }
    // They take different frames: each the next one.
    source.bad = [&](std::uint64_t number) { return number == 1 && !stuck[0].wait_until_begun(1); };
    Runner runner(graph, source, bindings, {});
    RunReport report;
    std::thread running([&] { report = runner.run(); });
    CHECK(fast.wait_until_written(policy == OnFull::Wait ? 400 : 5));
    for (GatedSink& sink : stuck) sink.set_open(true);
    running.join();
    check_sink_accounts(report);
    CHECK(report.slots == (policy == OnFull::Wait ? 5 : 6));
    CHECK(fast.frames.size() == report.frames.delivered);
  }
}

TEST_CASE("behind a live source sinks have the same frames, and the newest is not the one that goes") {
  GraphSpec graph = graph_with(4);
  fake::CountingSource source(300, true);
  fake::CollectingSink slow, fast;
  slow.before_write = [&] { source.wait_until_given(250); };
  fake::Settled settled;
  source.bad = [&](std::uint64_t number) { return number == 299 && !settled.wait_until(299); };
  Runner runner(graph, source, {bind_image("slow", slow), bind_image("fast", fast)}, settled.options());
  const RunReport report = runner.run();
  check_sink_accounts(report);
  CHECK(report.on_full == OnFull::DropOldest);
  CHECK(report.frames.dropped_ring_full > 200);
  CHECK(slow.frames == fast.frames);
  CHECK(slow.frames.back() == 299);
}

TEST_CASE("a sink that is alone behind a live source goes on with new frames, however many slots there are") {
  GraphSpec graph = graph_with(8);
  fake::CountingSource source(100, true);
  source.pause = 200us;
  GatedSink stuck;
  stuck.set_open(false);
  fake::Settled settled;
  source.bad = [&](std::uint64_t number) {
    if (number == 99) stuck.set_open(true);
    return (number == 1 && !stuck.wait_until_begun(1)) || (number == 99 && !settled.wait_until(99));
  };
  Runner runner(graph, source, {bind_image("stuck", stuck)}, settled.options());
  const RunReport report = runner.run();
  check_sink_accounts(report);
  REQUIRE(stuck.frames.size() > 4);
  CHECK(stuck.frames[0] == 0);
  // One may have been in the launcher's hands all the time.
  CHECK(stuck.frames[2] > 50);
  CHECK(stuck.frames.back() == 99);
}

TEST_CASE("a sink that breaks with frames in its queue gets none of them, and the others get all") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(20);
  GatedSink broken, good;
  broken.fail_at = 0;
  broken.set_open(false);
  Runner runner(graph, source, {bind_image("broken", broken), bind_image("good", good)}, {});
  RunReport report;
  std::thread running([&] { report = runner.run(); });
  CHECK(good.wait_until_written(3));
  broken.set_open(true);
  running.join();
  check_sink_accounts(report);
  CHECK(broken.frames.empty());
  CHECK(broken.finished == 1);
  CHECK(report.sinks[0].error == "planted sink error");
  CHECK(report.sinks[0].missed == 20);
  CHECK(report.sinks[1].missed == 0);
  CHECK(good.frames == first_numbers(20));
}

TEST_CASE("when the last sink has broken the run ends") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(~std::uint64_t{0} - 1);
  GatedSink first, second;
  first.fail_at = 3;
  second.fail_at = 50;
  Runner runner(graph, source, {bind_image("first", first), bind_image("second", second)}, {});
  const RunReport report = runner.run();
  check_sink_accounts(report);
  CHECK(report.interrupted);
  CHECK(first.frames == first_numbers(3));
  CHECK(second.frames == first_numbers(50));
}

TEST_CASE("an abort leaves no frame with one sink and not with the other") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(~std::uint64_t{0} - 1);
  GatedSink slow, fast;
  slow.set_open(false);
  Runner runner(graph, source, {bind_image("slow", slow), bind_image("fast", fast)}, {});
  RunReport report;
  std::thread running([&] { report = runner.run(); });
  CHECK(fast.wait_until_written(3));
  runner.abort();
  slow.set_open(true);
  running.join();
  check_sink_accounts(report);
  CHECK(report.interrupted);
  CHECK(slow.frames == first_numbers(3));
  CHECK(fast.frames == slow.frames);
  CHECK(report.frames.delivered == 3);
  CHECK(report.frames.dropped_aborted == report.frames.offered - 3);
  CHECK(slow.finished == 1);
  CHECK(fast.finished == 1);
}

TEST_CASE("a change of format reaches every sink after the last frame of the format before") {
  for (int slots = 1; slots <= 4; ++slots) {
    const GraphSpec graph = graph_with(slots);
    fake::CountingSource source(30);
    source.change_at = 11;
    source.change_back_at = 21;
    struct Noting final : Sink {
      void open(const SinkContext& context) override { width = std::get<ImageFormat>(context.format).width; }
      void write(const FrameInfo& info, const Value& value) override {
        std::this_thread::sleep_for(pause);
        const bool second = info.number >= 11 && info.number < 21;
        right += width == (second ? 8 : 4) && std::get<ImageView>(value).format.width == width ? 1 : 0;
      }
      void finish() override {}
      std::chrono::microseconds pause{0};
      int width = 0, right = 0;
    } slow, fast;
    slow.pause = 300us;
    Runner runner(graph, source, {bind_image("slow", slow), bind_image("fast", fast)}, {});
    check_sink_accounts(runner.run());
    CHECK(slow.right == 30);
    CHECK(fast.right == 30);
  }
}

TEST_CASE("sinks are finished at the same time: none waits for another to complete its file") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(5);
  GatedSink first, second;
  std::mutex mutex;
  std::condition_variable changed;
  int finishing = 0;
  bool both = true;
  first.on_finish = second.on_finish = [&] {
    std::unique_lock lock(mutex);
    ++finishing;
    changed.notify_all();
    both = changed.wait_for(lock, kPatience, [&] { return finishing == 2; }) && both;
  };
  Runner runner(graph, source, {bind_image("first", first), bind_image("second", second)}, {});
  runner.run();
  CHECK(both);
}

TEST_CASE("a sink that cannot be opened ends the run, and none of them is finished") {
  struct Refusing final : Sink {
    void open(const SinkContext&) override { throw Error(ExitCode::CannotCreate, "no such folder"); }
    void write(const FrameInfo&, const Value&) override {}
    void finish() override { ++finished; }
    int finished = 0;
  } refusing;
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(5);
  GatedSink first, third;
  Runner runner(graph, source,
                {bind_image("first", first), bind_image("second", refusing), bind_image("third", third)}, {});
  CHECK_THROWS_WITH_AS(runner.run(), "no such folder", Error);
  CHECK(first.finished + refusing.finished + third.finished == 0);
  CHECK(third.widths.empty());
  CHECK(runner.report().sinks.empty());
}

TEST_CASE("frames on their way to sinks take no memory") {
  for (const OnFull on_full : {OnFull::Wait, OnFull::DropOldest}) {
    const GraphSpec graph = graph_with(4);
    fake::CountingSource source(1300);
    struct Counting final : Sink {
      void open(const SinkContext&) override {}
      void write(const FrameInfo& info, const Value&) override {
        if (info.number == 200) before = test::allocations();
        if (info.number == 1200) after = test::allocations();
      }
      void finish() override {}
      std::uint64_t before = 0, after = 1;
    } counting;
    fake::CollectingSink slow;
    slow.pause = 20us;
    slow.frames.reserve(1300), slow.payloads.reserve(1300);
    Runner runner(graph, source, {bind_image("counting", counting), bind_image("slow", slow, on_full)}, {});
    check_sink_accounts(runner.run());
    CHECK(counting.after == counting.before);
  }
}

TEST_CASE("a trace has a track for every sink") {
  const GraphSpec graph = graph_with(4);
  fake::CountingSource source(3);
  GatedSink first, second;
  Trace trace(1000);
  Runner runner(graph, source, {bind_image("first", first), bind_image("second", second)}, {.trace = &trace});
  runner.run();
  const std::string json = trace.to_json({});
  for (const char* slice : {R"("tid":65536,"name":"first")", R"("tid":65537,"name":"second")"}) {
    std::size_t count = 0;
    for (std::size_t at = json.find(slice); at != std::string::npos; at = json.find(slice, at + 1)) ++count;
    CHECK(count == 3);
  }
}

TEST_CASE("the times of a trace count from its earliest slice, and slices beyond its room are left out") {
  Trace trace(3);
  trace.add("second", 2, 8, 5'002'500, 5'004'000);
  trace.add("first", 1, 7, 5'000'000, 5'001'000);
  trace.add("a name of more than thirty-one letters", 2, 9, 5'010'000, 5'010'000);
  CHECK(trace.left_out() == 0);
  trace.add("too many", 1, 10, 1'000, 2'000);
  CHECK(trace.left_out() == 1);
  CHECK(
      trace.to_json({{2, "a \"track\"\n"}}) ==
      "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n"
      "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"a "
      "\\\"track\\\"\\u000a\"}},\n"
      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"second\",\"ts\":2.500,\"dur\":1.500,\"args\":{\"frame\":"
      "8}},\n"
      "{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":\"first\",\"ts\":0.000,\"dur\":1.000,\"args\":{\"frame\":7}"
      "},\n"
      "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"name\":\"a name of more than thirty-one "
      "\",\"ts\":10.000,\"dur\":0.000,"
      "\"args\":{\"frame\":9}},\n"
      "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"contorno\"}}\n]}\n");
}

TEST_CASE("slots are shared out so that sinks that drop leave one for the others, and the reader has one") {
  for (const OnFull policy : {OnFull::Wait, OnFull::DropOldest, OnFull::DropNewest})
    for (int wanted = 1; wanted <= 12; ++wanted)
      for (int sinks = 0; sinks <= 4; ++sinks)
        for (int dropping = 0; dropping <= sinks; ++dropping) {
          const SlotShares shares = share_slots(wanted, policy, sinks, dropping);
          CAPTURE(wanted);
          CAPTURE(sinks);
          CAPTURE(dropping);
          CHECK(shares.slots >= wanted);
          CHECK(shares.with_sinks >= 1);
          CHECK(shares.with_sinks <= std::max(1, shares.slots - 1));
          if (dropping > 0) CHECK(shares.a_dropping_sink * dropping < shares.with_sinks);
          // Who asks for enough gets what was asked for.
          if (wanted >= dropping + 3) CHECK(shares.slots == wanted);
        }
}
