#include "plugins/publish/outbox/kept_times.h"

#include <doctest/doctest.h>

#include <cstdint>

using contorno::outbox::KeptTimes;

TEST_CASE("the age of the oldest message that waits is that of its commit") {
  KeptTimes times;
  CHECK(times.age_ns(0, 100) == 0);
  times.note(3, 10);
  times.note(3, 20);  // nothing new
  times.note(7, 30);
  CHECK(times.age_ns(0, 100) == 90);
  CHECK(times.age_ns(2, 100) == 90);
  CHECK(times.age_ns(3, 100) == 70);
  CHECK(times.age_ns(6, 100) == 70);
  CHECK(times.age_ns(7, 100) == 0);
  CHECK(times.age_ns(3, 20) == 0);  // never negative
}

TEST_CASE("a long outage is remembered in bounded memory, to within a twentieth") {
  KeptTimes times;
  constexpr std::uint64_t kMessages = 100'000;  // one a tick, kept at once
  for (std::uint64_t id = 1; id <= kMessages; ++id) times.note(id, static_cast<std::int64_t>(id));
  CHECK(sizeof(times) + KeptTimes::kMost * 16 < 10'000);
  for (std::uint64_t cursor = 0; cursor < kMessages; cursor += 997) {
    const auto truth = static_cast<double>(kMessages - cursor - 1);
    const auto told = static_cast<double>(times.age_ns(cursor, kMessages));
    CAPTURE(cursor);
    CHECK(told <= truth);  // at least so old
    CHECK(told >= 0.95 * truth - 1);
  }
}
