// How many frames took how long, for whoever asks while they come: a few limits, counted by the thread that
// finishes frames and read by any.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace contorno {

class LatencyCounts {
 public:
  /// Upper limits of the counts, ms; one more counts what is above all of them.
  static constexpr std::array<double, 19> kLimits_ms{0.5, 1,   2,   5,   10,  20,   30,   40,   50,    60,
                                                     80,  100, 150, 200, 500, 1000, 2000, 5000, 10'000};

  /// Counts a latency. Called by one thread at a time.
  void note(std::int64_t latency_ns) {
    std::size_t place = 0;
    while (place < kLimits_ms.size() && static_cast<double>(latency_ns) > kLimits_ms[place] * 1e6) ++place;
    counts_[place].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(latency_ns > 0 ? static_cast<std::uint64_t>(latency_ns) : 0, std::memory_order_relaxed);
  }
  /// Frames of a limit, those of lower limits not included.
  std::uint64_t count(std::size_t place) const { return counts_[place].load(std::memory_order_relaxed); }
  double sum_seconds() const { return static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) * 1e-9; }

 private:
  std::array<std::atomic<std::uint64_t>, kLimits_ms.size() + 1> counts_{};
  std::atomic<std::uint64_t> sum_ns_ = 0;
};

}  // namespace contorno
