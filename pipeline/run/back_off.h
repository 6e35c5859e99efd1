// How long to wait before a camera or a broker is connected again: 1, 2, 4, .. 30 s by default, each up to a
// fifth shorter or longer, so that those that were lost together do not come back at the same moment. Pure:
// the times are the caller's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

namespace contorno {

class BackOff {
 public:
  /// Nanoseconds.
  struct Limits {
    std::int64_t first = 1'000'000'000, longest = 30'000'000'000;
  };
  /// After frames have come for so long, the next loss begins with the first wait again.
  static constexpr std::int64_t kHealthy = 60'000'000'000;

  BackOff(const Limits& limits, std::uint32_t seed) : limits_(limits), wait_(limits.first), random_(seed) {}

  /// The wait before the next attempt.
  std::int64_t next() {
    const std::int64_t wait = wait_;
    wait_ = std::min(limits_.longest, 2 * wait_);
    return wait + std::uniform_int_distribution<std::int64_t>(-wait / 5, wait / 5)(random_);
  }
  /// The next wait is the first one again.
  void reset() { wait_ = limits_.first; }
  /// Frames have come for `lasted` before the camera was lost.
  void lost_after(std::int64_t lasted) {
    if (lasted >= kHealthy) reset();
  }

 private:
  Limits limits_;
  std::int64_t wait_;
  std::minstd_rand random_;
};

}  // namespace contorno
