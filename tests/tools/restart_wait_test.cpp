#include "tools/restart_wait.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/temporary_folder.h"

using namespace contorno;

namespace {

/// A service that is started again a second after its device broke, on a clock that is made up.
struct Service {
  /// A run whose device works for so long and breaks; the wait before it.
  std::int64_t run(std::int64_t works_s) {
    now += 1;
    const std::int64_t wait = restart_wait(left, now);
    now += wait;
    const std::int64_t opened = now;
    now += works_s;
    left = broken_run_of(text_of(broken_run(left, opened, now)));
    REQUIRE(left);
    return wait;
  }
  std::int64_t now = 1'700'000'000;
  std::optional<BrokenRun> left;
};

}  // namespace

TEST_CASE("a device that breaks again and again is opened later and later") {
  Service service;
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 10; ++i) waits.push_back(service.run(3));
  CHECK(waits == std::vector<std::int64_t>{0, 1, 2, 4, 8, 16, 32, 60, 60, 60});
}

TEST_CASE("a device that works for a minute is opened after a second again, and at once if it was long ago") {
  Service service;
  for (int i = 0; i < 5; ++i) service.run(3);
  CHECK(service.run(60) == 16);
  CHECK(service.run(59) == 1);
  CHECK(service.run(3) == 2);
  service.now += kSoon_s - 2;
  CHECK(service.run(3) == 4);
  service.now += kSoon_s - 1;
  CHECK(service.run(3) == 0);
}

TEST_CASE("a clock that is set makes no wait longer than the longest") {
  Service service;
  for (int i = 0; i < 20; ++i) service.run(1);
  for (const std::int64_t step : {-1'000'000'000LL, 500LL, 1'000'000'000LL, -60LL}) {
    service.now += step;
    const std::int64_t wait = service.run(1);
    CHECK(wait >= 0);
    CHECK(wait <= kSoon_s);
    CHECK(service.left->in_a_row <= 1000);
  }
}

TEST_CASE("what no run has left is no run that broke") {
  for (const char* text :
       {"", "device-broke", "device-broke \n", "device-broke 12 3", "device-broke 12 3 4\n",
        "device-broke -1 3\n", "device-broke 12 0\n", "device-broke 12 -4\n", "device-broke 12 1001\n",
        "device-broke 99999999999999999999 1\n", "x 12 3\n", "device-broke 12  3\n"}) {
    CAPTURE(text);
    CHECK_FALSE(broken_run_of(text));
  }
  const std::optional<BrokenRun> run = broken_run_of("device-broke 12 3\n");
  REQUIRE(run);
  CHECK(run->ended_s == 12);
  CHECK(run->in_a_row == 3);
  CHECK(restart_wait(std::nullopt, 100) == 0);
}

TEST_CASE("what a run leaves is in the first folder of its state, and goes when a run ends otherwise") {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "restarts";
  const auto left = [&] {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return broken_run_of(text.str());
  };
  ::setenv("STATE_DIRECTORY", (folder.path().string() + ":/nowhere").c_str(), 1);
  for (int run = 1; run <= 3; ++run) {
    RestartGuard guard;
    CHECK(guard.broken_before() == run - 1);
    guard.note_end(70);
    REQUIRE(left());
    CHECK(left()->in_a_row == 1);  // it never opened the device: a row begins
    const BrokenRun broken{.ended_s = left()->ended_s, .in_a_row = run};
    std::ofstream(file) << text_of(broken);
  }
  RestartGuard().note_end(3);
  CHECK_FALSE(std::filesystem::exists(file));
  ::unsetenv("STATE_DIRECTORY");
  RestartGuard().note_end(70);
  CHECK_FALSE(std::filesystem::exists(file));
}
