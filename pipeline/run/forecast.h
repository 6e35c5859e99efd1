// A forecast of when the next frame is due, from the times of those before it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace contorno {

/// Keeps a smoothed interval and its smoothed deviation, as V. Jacobson estimates round trips ("Congestion
/// avoidance and control", 1988, appendix A). Times are nanoseconds of one clock. Used by one thread at a
/// time.
class ArrivalForecast {
 public:
  /// The time in which the next event is expected.
  struct Window {
    std::int64_t begin, end;
  };

  /// Half of the shortest window: a sleeping thread may wake up so late, and a camera may be so early.
  /// Nanoseconds.
  static constexpr std::int64_t kMargin = 1'000'000;
  /// A window is at most this part of an interval, so that a thread that polls during every window does so
  /// for no more of its time.
  static constexpr std::int64_t kIntervalParts = 8;
  /// So many intervals must be seen before there is a forecast.
  static constexpr int kFewest = 4;

  /// An event came at `now`, not before the last one.
  void arrived(std::int64_t now) {
    if (seen_ > 0) {
      const std::int64_t error = now - last_ - interval_;
      if (seen_ == 1) {
        interval_ = now - last_;
      } else {
        interval_ += error / 8;
        deviation_ += (std::max(error, -error) - deviation_) / 4;
      }
    }
    last_ = now;
    seen_ = std::min(seen_ + 1, kFewest + 1);
  }

  /// The window of the next event; nothing while events come so irregularly or so often that it would be too
  /// large a part of the interval.
  std::optional<Window> next() const {
    if (seen_ <= kFewest) return std::nullopt;
    const std::int64_t reach = 4 * deviation_ + kMargin;
    if (2 * reach * kIntervalParts > interval_) return std::nullopt;
    return Window{last_ + interval_ - reach, last_ + interval_ + reach};
  }

 private:
  std::int64_t last_ = 0, interval_ = 0, deviation_ = 0;
  int seen_ = 0;
};

}  // namespace contorno
