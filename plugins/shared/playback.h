// What sources that replay a recording have in common: which of its frames are delivered, and when. A
// Playback is what the user asked for (the parameters start, every and live), a Pacer keeps the times. Both
// belong to the reading thread, except Pacer::cancel.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>

#include "pipeline/graph/source.h"

namespace contorno {

/// Parameter structs of sources derive from it. Positions count the recorded frames from 0.
struct Playback {
  std::int64_t start = 0;  ///< frames left out at the beginning
  std::int64_t every = 1;  ///< each n-th one of the other frames is played, the first included
  bool live = false;       ///< frames come at their times, as from a camera

  /// This part alone of a struct that derives from it.
  const Playback& playback() const { return *this; }
  bool takes(std::int64_t position) const { return position >= start && (position - start) % every == 0; }
  /// How many frames of `recorded` are delivered.
  std::int64_t count(std::int64_t recorded) const {
    return recorded > start ? (recorded - start + every - 1) / every : 0;
  }
  /// Makes `format`, which has the recording's rate, that of the frames that are delivered.
  void set_rate(StreamFormat& format) const {
    format.live = format.live || live;
    const std::int64_t numerator = format.rate_numerator;
    const std::int64_t denominator = format.rate_denominator * every;
    const std::int64_t divisor = std::gcd(numerator, denominator);
    constexpr std::int64_t kMost = 1'000'000'000;
    if (numerator == 0 || denominator / divisor > kMost) return;
    format.rate_numerator = static_cast<int>(numerator / divisor);
    format.rate_denominator = static_cast<int>(denominator / divisor);
  }
};

/// Declares the parameters of the Playback in `P`.
template <class P>
void add_playback(ParamList<P>& list) {
  constexpr std::int64_t kLongestStep = 1'000'000;
  list.integer("start", static_cast<std::int64_t P::*>(&P::start), 0, kUnbounded, Unit::Frames,
               "Frames left out at the beginning.")
      .integer("every", static_cast<std::int64_t P::*>(&P::every), 1, kLongestStep, Unit::Frames,
               "Every n-th frame is delivered, the first included; 1 delivers all.")
      .flag("live", static_cast<bool P::*>(&P::live),
            "Frames come at the recorded rate, as from a camera, whether or not the one before is done; "
            "not as fast as they are taken.");
}

/// Sleeps until a frame's time comes.
class Pacer {
 public:
  /// Waits until a frame is due. The first call returns at once; a later one when as much time has passed
  /// since then as its `pts_ns` is greater than that of the first. False when cancelled.
  bool wait_for(std::int64_t pts_ns) {
    if (!first_) first_ = {.at = Clock::now(), .pts_ns = pts_ns};
    return sleep_until(first_->at + std::chrono::nanoseconds(pts_ns - first_->pts_ns));
  }
  /// Waits for `duration`. False when cancelled.
  bool sleep(std::chrono::duration<double> duration) {
    return sleep_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(duration));
  }
  /// Waits until the clock of now_ns() shows `time_ns`. False when cancelled.
  bool wait_until(std::int64_t time_ns) {
    return sleep_until(Clock::time_point(std::chrono::nanoseconds(time_ns)));
  }
  /// Ends every wait. From any thread.
  void cancel() {
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
    }
    wake_.notify_all();
  }
  const std::atomic<bool>& cancelled() const { return cancelled_; }

 private:
  using Clock = std::chrono::steady_clock;

  bool sleep_until(Clock::time_point time) {
    std::unique_lock lock(mutex_);
    return !wake_.wait_until(lock, time, [this] { return cancelled_.load(); });
  }

  struct First {
    Clock::time_point at;
    std::int64_t pts_ns = 0;
  };
  std::optional<First> first_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> cancelled_ = false;
};

/// The latest time that a frame has, 285 years: where times stop that would be later. Manifests have room for
/// it.
inline constexpr std::int64_t kLatestTime = 9'000'000'000'000'000'000;

/// The time in ns of frame `number` of a stream of constant rate, rounded down; errors do not add up.
inline std::int64_t time_of_frame(std::uint64_t number, const StreamFormat& format) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto numerator = static_cast<std::uint64_t>(format.rate_numerator);
  std::uint64_t ticks = 0;
  if (__builtin_mul_overflow(number, static_cast<std::uint64_t>(format.rate_denominator), &ticks) ||
      ticks / numerator >= kLatestTime / kSecond)
    return kLatestTime;
  return static_cast<std::int64_t>(ticks / numerator * kSecond + ticks % numerator * kSecond / numerator);
}

/// Sets the rate of `format` to `rate` frames a second, rounded to a thousandth.
inline void set_decimal_rate(StreamFormat& format, double rate) {
  constexpr int kDenominator = 1000;
  const int numerator = static_cast<int>(rate * kDenominator + 0.5);
  const int divisor = std::gcd(numerator, kDenominator);
  format.rate_numerator = numerator / divisor;
  format.rate_denominator = kDenominator / divisor;
}

}  // namespace contorno
