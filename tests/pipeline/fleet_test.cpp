#include "pipeline/run/fleet.h"

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/pipeline/fakes.h"

using namespace contorno;

namespace {

/// A runner with what it borrows.
struct PlannedCamera {
  explicit PlannedCamera(const GraphSpec& graph, std::uint64_t frames, bool opens = true)
      : source(frames),
        sink(opens),
        runner(graph, source, {{.name = "collect", .sink = &sink, .input = {1, 0}}}, {}) {}

  struct Sink final : contorno::Sink {
    explicit Sink(bool opens) : opens_(opens) {}
    void open(const SinkContext&) override {
      if (!opens_) throw Error(ExitCode::CannotCreate, "planted");
    }
    void write(const FrameInfo& info, const Value&) override { frames.push_back(info.number); }
    void finish() override {}
    std::vector<std::uint64_t> frames;

   private:
    bool opens_;
  };
  fake::CountingSource source;
  Sink sink;
  Runner runner;
};

std::vector<Runner*> runners_of(const std::vector<std::unique_ptr<PlannedCamera>>& cameras) {
  std::vector<Runner*> runners;
  for (const auto& camera : cameras) runners.push_back(&camera->runner);
  return runners;
}

}  // namespace

TEST_CASE("the cameras of a fleet run at once, each to its end, and their counts are added up") {
  const GraphSpec graph = fake::copy_graph();
  const std::array<std::uint64_t, 4> frames{300, 1, 0, 70};
  std::vector<std::unique_ptr<PlannedCamera>> cameras;
  for (const std::uint64_t count : frames) cameras.push_back(std::make_unique<PlannedCamera>(graph, count));
  Fleet fleet(runners_of(cameras));
  CHECK(fleet.done());  // nothing runs
  fleet.start();
  fleet.wait();
  CHECK(fleet.done());
  CHECK(fleet.progress().offered == 371);
  CHECK(fleet.progress().delivered == 371);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const RunReport report = fleet.take(i);
    CHECK(report.frames.delivered == frames[i]);
    CHECK(cameras[i]->sink.frames.size() == frames[i]);
  }
}

TEST_CASE("a camera of a fleet whose run is impossible leaves the others alone, and is told by itself") {
  const GraphSpec graph = fake::copy_graph();
  std::vector<std::unique_ptr<PlannedCamera>> cameras;
  cameras.push_back(std::make_unique<PlannedCamera>(graph, 50));
  cameras.push_back(std::make_unique<PlannedCamera>(graph, 50, false));
  cameras.push_back(std::make_unique<PlannedCamera>(graph, 60));
  Fleet fleet(runners_of(cameras));
  fleet.start();
  fleet.wait();
  CHECK(fleet.take(0).frames.delivered == 50);
  CHECK_THROWS_WITH_AS(fleet.take(1), doctest::Contains("planted"), Error);
  CHECK(fleet.take(2).frames.delivered == 60);
}

TEST_CASE("a fleet that is asked to stop, or that goes, ends the cameras that would run for ever") {
  constexpr std::uint64_t kForEver = ~std::uint64_t{0} - 1;
  const GraphSpec graph = fake::copy_graph();
  for (const bool asked : {true, false}) {
    std::vector<std::unique_ptr<PlannedCamera>> cameras;
    for (int i = 0; i < 3; ++i) cameras.push_back(std::make_unique<PlannedCamera>(graph, kForEver));
    {
      Fleet fleet(runners_of(cameras));
      fleet.start();
      for (const auto& camera : cameras) camera->source.wait_until_given(5);
      CHECK_FALSE(fleet.done());
      if (asked) {
        fleet.request_stop();
        fleet.wait();
        CHECK(fleet.done());
        CHECK(fleet.progress().delivered >= 15);
      }
    }
    for (const auto& camera : cameras) CHECK(camera->sink.frames.size() >= 5);
  }
}

TEST_CASE("counts are added up field by field") {
  static_assert(sizeof(FrameCounts) == 9 * sizeof(std::uint64_t));  // one more has to be added up, and tried
  FrameCounts sum{.offered = 1,
                  .delivered = 2,
                  .failed = 3,
                  .dropped_ring_full = 4,
                  .dropped_deadline = 5,
                  .dropped_thinned = 9,
                  .dropped_aborted = 6,
                  .late = 7,
                  .regrown = 8};
  sum += sum;
  CHECK(sum.offered == 2);
  CHECK(sum.delivered == 4);
  CHECK(sum.failed == 6);
  CHECK(sum.dropped_ring_full == 8);
  CHECK(sum.dropped_deadline == 10);
  CHECK(sum.dropped_thinned == 18);
  CHECK(sum.dropped_aborted == 12);
  CHECK(sum.late == 14);
  CHECK(sum.regrown == 16);
}
