#include "pipeline/graph/device_clock.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "pipeline/shared/clock.h"
#include "tests/device_skip.h"

namespace contorno {
namespace {

TEST_CASE("times of a device stand between those of the host around them, for as long as they are taken") {
  if (test::skipped_without_device("the clock of a device")) return;
  const Stream stream = Stream::create();
  DeviceClock clock(stream);
  const Event event = Event::create();
  // Two clocks of quartz drift apart by 10 to 50 us a second: 2.5 s without being tied together would show.
  constexpr std::int64_t kSlack_ns = 15'000;
  const auto outside_ns = [&] {
    const std::int64_t before = now_ns();
    event.record(stream.get());
    event.synchronize();
    const std::int64_t after = now_ns(), at = clock.host_ns(event);
    return std::max<std::int64_t>(0, std::max(before - at, at - after));
  };
  for (int i = 0; i < 50; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    // A machine that is interrupted between the two times of the host does not make it fail, it takes longer.
    CHECK(outside_ns() < kSlack_ns);
    clock.follow();
  }
}

}  // namespace
}  // namespace contorno
