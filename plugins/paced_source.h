// What sources that make their own frames have in common: numbered frames at a rate, as fast as they are
// taken or, live, at their times; a count after which they end; cancelling.
#pragma once

#include <chrono>
#include <cmath>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <optional>

#include "pipeline/source.h"

namespace contorno {

struct Pace {
  double rate = 30;         ///< frames a second
  std::int64_t frames = 0;  ///< 0 = endless
  bool live = false;
};

/// What the pace alone says of a stream.
inline StreamFormat paced_format(const Pace& pace) {
  constexpr int kDenominator = 1000;
  StreamFormat format;
  const int numerator = static_cast<int>(std::lround(pace.rate * kDenominator));
  const int divisor = std::gcd(numerator, kDenominator);
  format.rate_numerator = numerator / divisor;
  format.rate_denominator = kDenominator / divisor;
  format.live = pace.live;
  if (pace.frames > 0) format.frame_count = pace.frames;
  return format;
}

class PacedSource : public Source {
 public:
  const StreamFormat& format() const override { return format_; }

  ReadResult read(FrameInput& input) override {
    if (pace_.frames > 0 && next_ >= static_cast<std::uint64_t>(pace_.frames)) return ReadResult::End;
    if (!wait_for_turn()) return ReadResult::End;
    input.info.pts_ns = pts();
    input.info.name.clear();
    make(next_, input);
    ++next_;
    return ReadResult::Frame;
  }

  void cancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
  }

 protected:
  explicit PacedSource(const Pace& pace) : format_(paced_format(pace)), pace_(pace) {}

  /// Fills frame and maps of frame `number`.
  virtual void make(std::uint64_t number, FrameInput& input) = 0;

  StreamFormat format_;

 private:
  std::int64_t pts() const {
    // Exact in 64 bits: whole seconds first.
    const auto numerator = static_cast<std::uint64_t>(format_.rate_numerator);
    constexpr std::uint64_t kSecond = 1'000'000'000;
    const std::uint64_t ticks = next_ * static_cast<std::uint64_t>(format_.rate_denominator);
    return static_cast<std::int64_t>(ticks / numerator * kSecond + ticks % numerator * kSecond / numerator);
  }

  /// Live: sleeps until the frame's time, whether or not the one before was waited for. False when cancelled.
  bool wait_for_turn() {
    std::unique_lock lock(mutex_);
    if (!pace_.live) return !cancelled_;
    if (!started_) started_ = std::chrono::steady_clock::now();
    wake_.wait_until(lock, *started_ + std::chrono::nanoseconds(pts()), [this] { return cancelled_; });
    return !cancelled_;
  }

  const Pace pace_;
  std::uint64_t next_ = 0;
  std::optional<std::chrono::steady_clock::time_point> started_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool cancelled_ = false;
};

}  // namespace contorno
