#include "pipeline/run/progress_judge.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace contorno;

namespace {

constexpr std::int64_t kOneSecond = 1'000'000'000;
constexpr std::int64_t kLimit = 10 * kOneSecond;

/// Cameras whose threads a test moves, looked at once a second of a clock that it makes up.
struct Line {
  explicit Line(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      cameras.push_back({.camera = i == 0 ? "north" : "south",
                         .threads = {{.role = ThreadRole::Reader},
                                     {.role = ThreadRole::Launcher},
                                     {.role = ThreadRole::Finisher},
                                     {.role = ThreadRole::Writer, .sink = "lines"}}});
  }
  ThreadSigns& thread(ThreadRole role, std::size_t camera = 0) {
    return cameras[camera].threads[static_cast<std::size_t>(role)];
  }
  /// All threads work, and make a step between looks, but for those that `still` says.
  std::optional<std::string> run(int seconds, const std::vector<const ThreadSigns*>& still = {}) {
    std::optional<std::string> hang;
    for (int i = 0; i < seconds; ++i) {
      for (CameraThreads& camera : cameras)
        for (ThreadSigns& one : camera.threads)
          if (std::find(still.begin(), still.end(), &one) == still.end()) {
            one.activity = Activity::AtWork;
            ++one.steps;
          }
      hang = judge.look(cameras, now += kOneSecond);
    }
    return hang;
  }

  std::vector<CameraThreads> cameras;
  ProgressJudge judge{kLimit};
  std::int64_t now = 1000 * kOneSecond;
};

constexpr ThreadRole kRoles[] = {ThreadRole::Reader, ThreadRole::Launcher, ThreadRole::Finisher,
                                 ThreadRole::Writer};

}  // namespace

TEST_CASE("threads that make steps get on, however long the run is") {
  Line line(2);
  CHECK_FALSE(line.run(1000));
}

TEST_CASE("a thread that hangs at work is found once the limit is over, whatever the others do") {
  for (const ThreadRole role : kRoles) {
    Line line(2);
    CHECK_FALSE(line.run(100));
    ThreadSigns& hung = line.thread(role, 1);
    hung.activity = Activity::AtWork;
    CHECK_FALSE(line.run(10, {&hung}));
    const std::optional<std::string> hang = line.run(1, {&hung});
    REQUIRE(hang);
    CHECK(hang->starts_with("south: the "));
    CHECK(hang->ends_with("has made no step for 11.0 s and is at work"));
    // It goes on again.
    CHECK_FALSE(line.run(1));
  }
}

TEST_CASE("a thread that is idle has to have a reason") {
  for (const ThreadRole role : {ThreadRole::Launcher, ThreadRole::Finisher, ThreadRole::Writer}) {
    Line line(1);
    CHECK_FALSE(line.run(5));
    ThreadSigns& idle = line.thread(role);
    idle.activity = Activity::Idle;
    CHECK_FALSE(line.run(1000, {&idle}));  // nothing to do
    idle.has_input = true;
    CHECK_FALSE(line.run(10, {&idle}));
    const std::optional<std::string> hang = line.run(1, {&idle});
    REQUIRE(hang);
    CHECK(hang->ends_with("and is idle without a reason"));
    idle.has_input = false;
    CHECK_FALSE(line.run(1, {&idle}));
  }
}

TEST_CASE("a thread may wait for a camera, or for who takes what a sink writes, for ever") {
  Line line(1);
  ThreadSigns& reader = line.thread(ThreadRole::Reader);
  reader.activity = Activity::Waiting;
  CHECK_FALSE(line.run(1000, {&reader}));
  // A wait within the work of a sink counts its looks.
  ThreadSigns& writer = line.thread(ThreadRole::Writer);
  writer.activity = Activity::AtWork, writer.has_input = true;
  for (int i = 0; i < 1000; ++i) {
    ++writer.steps;
    CHECK_FALSE(line.run(1, {&reader, &writer}));
  }
  CHECK(line.run(11, {&reader, &writer}));
}

TEST_CASE("a launcher may wait at the gate as long as some camera gets on") {
  Line line(2);
  ThreadSigns& north = line.thread(ThreadRole::Launcher, 0);
  ThreadSigns& south = line.thread(ThreadRole::Launcher, 1);
  north.activity = Activity::AtGate, north.has_input = true;
  CHECK_FALSE(line.run(1000, {&north}));
  // Both wait, and no frame is in work: a permit was lost.
  south.activity = Activity::AtGate, south.has_input = true;
  ThreadSigns& first = line.thread(ThreadRole::Finisher, 0);
  ThreadSigns& second = line.thread(ThreadRole::Finisher, 1);
  first.activity = second.activity = Activity::Idle;
  CHECK_FALSE(line.run(10, {&north, &south, &first, &second}));
  const std::optional<std::string> hang = line.run(1, {&north, &south, &first, &second});
  REQUIRE(hang);
  CHECK(*hang == "north: the launcher has made no step for 11.0 s and is idle without a reason");
}

TEST_CASE("cameras that come, go and come again are judged from then on") {
  Line line(2);
  const std::vector<ThreadSigns> there = line.cameras[1].threads;
  line.cameras[1].threads.clear();
  CHECK_FALSE(line.run(50));
  line.cameras[1].threads = there;
  for (ThreadSigns& one : line.cameras[1].threads) one.activity = Activity::AtWork;
  std::vector<const ThreadSigns*> still;
  for (const ThreadSigns& one : line.cameras[1].threads) still.push_back(&one);
  CHECK_FALSE(line.run(11, still));
  CHECK(line.run(1, still));
  for (ThreadSigns& one : line.cameras[1].threads) one.activity = Activity::Gone;
  CHECK_FALSE(line.run(100, still));
}

TEST_CASE("a hang is found exactly when no thread made a step for the limit, in any trace") {
  for (std::uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    std::minstd_rand random(seed);
    const auto draw = [&](std::int64_t below) {
      return std::uniform_int_distribution<std::int64_t>(0, below - 1)(random);
    };
    std::vector<CameraThreads> cameras{{.threads = std::vector<ThreadSigns>(1)}};
    ThreadSigns& thread = cameras[0].threads[0];
    thread = {.role = ThreadRole::Writer, .sink = "lines", .activity = Activity::AtWork};
    ProgressJudge judge(kLimit);
    std::int64_t now = 0, well = 0;
    for (int look = 0; look < 300; ++look) {
      now += draw(3 * kOneSecond);
      if (look == 0 || draw(10) == 0) {
        ++thread.steps;
        well = now;
      }
      CHECK(judge.look(cameras, now).has_value() == (now - well > kLimit));
    }
  }
}
