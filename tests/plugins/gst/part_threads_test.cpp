#include "plugins/gst/element/part_threads.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/allocation_counter.h"

namespace contorno::gst {

TEST_CASE("every part is done once, by any number of threads, again and again") {
  for (const int helpers : {0, 1, 3, 9}) {
    CAPTURE(helpers);
    PartThreads threads(helpers);
    for (const int parts : {0, 1, 2, 8, 100}) {
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(parts));
      for (int time = 1; time <= 20; ++time) {
        threads.run(parts, [&](int part) { ++done[static_cast<std::size_t>(part)]; });
        for (const std::atomic<int>& one : done) CHECK(one == time);
      }
    }
  }
}

TEST_CASE("parts are done at the same time") {
  PartThreads threads(2);
  std::atomic<int> waiting = 0;
  // Each waits for the other two.
  threads.run(3, [&](int) {
    ++waiting;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (waiting < 3 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    CHECK(waiting == 3);
  });
}

TEST_CASE("a part that fails is told of when all have ended, and the threads go on") {
  PartThreads threads(3);
  for (int time = 0; time < 20; ++time) {
    std::atomic<int> done = 0;
    const auto work = [&](int part) {
      ++done;
      if (part % 4 == 1) throw std::runtime_error("no");
    };
    CHECK_THROWS_WITH(threads.run(12, work), "no");
    CHECK(done == 12);
  }
  std::atomic<int> done = 0;
  threads.run(5, [&](int) { ++done; });
  CHECK(done == 5);
}

TEST_CASE("work in parts takes no memory, however much it refers to") {
  PartThreads threads(3);
  std::atomic<int> one = 0, two = 0, three = 0;
  const auto work = [&](int part) { one += part, two += 2 * part, three += 3 * part; };
  const std::uint64_t before = test::allocations();
  for (int time = 0; time < 50; ++time) threads.run(8, work);
  CHECK(test::allocations() == before);
  CHECK(one + two + three == 50 * 28 * 6);
}

}  // namespace contorno::gst
