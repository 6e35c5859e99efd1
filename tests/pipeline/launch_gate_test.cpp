// Shares by weight, played through with arrivals and work of given times: no clock is asked.
#include "pipeline/run/launch_gate.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

using contorno::LaunchGate;

namespace {

struct PlayedCamera {
  double rate = 0, weight = 1;
  double next_arrival = 0, done_at = std::numeric_limits<double>::infinity();
  bool queued = false;  // the newest frame; an older one has made room
  int delivered = 0;
};

/// Frames of each camera in `seconds`, when each takes `work` seconds and `permits` are worked on at once.
std::vector<int> play(std::vector<PlayedCamera> cameras, int permits, double work, double seconds) {
  std::vector<double> weights;
  for (const PlayedCamera& camera : cameras) weights.push_back(camera.weight);
  LaunchGate gate(permits, weights);
  constexpr double kIdle = std::numeric_limits<double>::infinity();
  for (double now = 0; now < seconds;) {
    now = kIdle;
    for (const PlayedCamera& camera : cameras) now = std::min({now, camera.next_arrival, camera.done_at});
    for (std::size_t i = 0; i < cameras.size(); ++i) {
      PlayedCamera& camera = cameras[i];
      if (camera.next_arrival <= now) {
        camera.queued = true;
        camera.next_arrival += 1 / camera.rate;
        if (camera.done_at == kIdle) gate.line_up(i);
      }
      if (camera.done_at <= now) {
        ++camera.delivered;
        camera.done_at = kIdle;
        gate.leave(i, camera.queued);
      }
    }
    for (std::size_t i = 0; i < cameras.size(); ++i)
      if (cameras[i].done_at == kIdle && gate.is_granted(i)) {
        REQUIRE(cameras[i].queued);  // no permit for a camera without a frame
        REQUIRE(gate.enter(i));
        cameras[i].queued = false;
        cameras[i].done_at = now + work;
      }
  }
  std::vector<int> delivered;
  for (const PlayedCamera& camera : cameras) delivered.push_back(camera.delivered);
  return delivered;
}

void check_shares(const std::vector<int>& delivered, const std::vector<double>& expected) {
  const double all = std::accumulate(delivered.begin(), delivered.end(), 0.0);
  const double wanted = std::accumulate(expected.begin(), expected.end(), 0.0);
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(delivered[i] / all / (expected[i] / wanted) - 1) <= 0.05);
}

}  // namespace

TEST_CASE("cameras that want twice what can be done get shares as their weights are") {
  for (const int permits : {1, 2}) {
    const auto delivered = play({{.rate = 60, .weight = 1},
                                 {.rate = 60, .weight = 1},
                                 {.rate = 60.7, .weight = 2},
                                 {.rate = 59, .weight = 2}},
                                permits, permits / 120.0, 100);
    check_shares(delivered, {1, 1, 2, 2});
    // And nothing of what could be done is left undone.
    CHECK(std::accumulate(delivered.begin(), delivered.end(), 0) > 0.97 * 120 * 100);
  }
}

TEST_CASE("a camera whose own rate is below its share gets all its frames, and the others share the rest") {
  // 160 frames/s for 80: the first gets its 10; of the other 70, weights of 1 and 2 make 23.3 and 46.7.
  check_shares(play({{.rate = 10, .weight = 1}, {.rate = 30, .weight = 1}, {.rate = 120, .weight = 2}}, 1,
                    1 / 80.0, 200),
               {10, 70 / 3.0, 140 / 3.0});
}

TEST_CASE("a flood is held to its share, however early its frames come") {
  check_shares(play({{.rate = 40, .weight = 1}, {.rate = 40, .weight = 1}, {.rate = 10'000, .weight = 1}}, 1,
                    1 / 60.0, 100),
               {1, 1, 1});
}

TEST_CASE("a camera that comes back after a pause gets no arrears") {
  LaunchGate gate(1, {1, 1});
  // The first works alone for long.
  for (int i = 0; i < 100; ++i) {
    REQUIRE(gate.enter(0));
    gate.leave(0, false);
  }
  std::vector<int> turns(2);
  gate.line_up(0);
  gate.line_up(1);
  for (int i = 0; i < 20; ++i) {
    const std::size_t next = gate.is_granted(0) ? 0 : 1;
    REQUIRE(gate.enter(next));
    ++turns[next];
    gate.leave(next, true);
  }
  CHECK(turns == std::vector<int>{10, 10});
}

TEST_CASE("a camera that is closed gives back its permits and wakes who waits for one") {
  LaunchGate gate(1, {1, 1});
  REQUIRE(gate.enter(0));
  std::atomic<int> answer = -1;
  std::thread waiting([&] { answer = gate.enter(1) ? 1 : 0; });
  gate.close(1);
  waiting.join();
  CHECK(answer == 0);
  gate.close(0);
  LaunchGate second(1, {1, 1});
  REQUIRE(second.enter(0));
  second.line_up(1);
  CHECK_FALSE(second.is_granted(1));
  second.close(0);
  CHECK(second.is_granted(1));
  second.leave(0, true);  // too late, and without effect
  CHECK(second.enter(1));
}
