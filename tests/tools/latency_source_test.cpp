// The frames of a measurement, one at a time: how a closed loop begins and ends.
#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "pipeline/shared/clock.h"
#include "tools/latency/timed_source.h"

namespace contorno::latency {
namespace {

/// Frames without samples, each of which takes `pause_ms` to be made.
struct Slow final : Source {
  StreamFormat stream;
  int pause_ms = 0;
  const StreamFormat& format() const override { return stream; }
  ReadResult read(FrameInput&) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    return ReadResult::Frame;
  }
  void cancel() override {}
};

/// How many frames a closed loop has, whose pipeline takes no time.
std::size_t frames_of(int pause_ms, std::size_t most, Delivery delivery) {
  Slow slow;
  slow.pause_ms = pause_ms;
  FrameRecords records(most, {});
  TimedSource source(nullptr, &slow, delivery, records);
  std::uint64_t given = 0;
  source.start(now_ns(), [&] { return FrameCounts{.offered = given, .delivered = given}; });
  for (FrameInput input; source.read(input) == ReadResult::Frame;) ++given;
  CHECK(source.offered() == given);
  return source.offered();
}

constexpr std::int64_t kMs = 1'000'000;

TEST_CASE("a closed loop measures after its warm-up, also where that takes longer than all was to take") {
  // Five frames of 4 ms or more, then those of one millisecond: the first one.
  CHECK(frames_of(4, 100, {.duration_ns = kMs, .first_counted = 5}) == 6);
  // By time: 12 ms have passed when the third one is due at the latest.
  CHECK(frames_of(4, 100, {.duration_ns = 1, .warm_up_ns = 12 * kMs, .first_counted = 2}) == 3);
}

TEST_CASE("a closed loop ends when its records are full, or its time is over") {
  CHECK(frames_of(0, 7, {.duration_ns = 3'600'000 * kMs, .first_counted = 5}) == 7);
  CHECK(frames_of(0, 9, {.first_counted = 2}) == 9);  // without an end of its own
  CHECK(frames_of(1, 100'000, {.duration_ns = 20 * kMs}) <= 22);
}

TEST_CASE("frames of a closed loop with an interval are due that far from each other, or later") {
  Slow slow;
  FrameRecords records(4, {});
  const Delivery delivery{.interval_ns = 3 * kMs};
  TimedSource source(nullptr, &slow, delivery, records);
  std::uint64_t given = 0;
  const std::int64_t start = now_ns();
  source.start(start, [&] { return FrameCounts{.offered = given, .delivered = given}; });
  for (FrameInput input; source.read(input) == ReadResult::Frame;) ++given;
  CHECK(records.time(0, Columns::kDue) >= start);
  for (std::size_t frame = 1; frame < 4; ++frame)
    CHECK(records.time(frame, Columns::kDue) - records.time(frame - 1, Columns::kDue) >= 3 * kMs);
}

}  // namespace
}  // namespace contorno::latency
