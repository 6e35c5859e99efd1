// How many threads the loops of the launcher take with a recording, where the user has not said it: all, or
// one alone where one keeps up. A loop that is shared out wakes threads up and waits for them, and they take
// processors from those who decode, encode and write. Of a recording the rate counts, which does not fall as
// long as the launcher has time left; the single frame may take longer. So live sources never adapt.
#pragma once

#include <cstdint>

namespace contorno {

/// Told of every launch. Used by one thread.
class TeamChoice {
 public:
  /// Launches that are looked at together: short against a film, long against one frame that is unlike
  /// others.
  static constexpr int kWindow = 16;
  /// Shares of a processor that the launcher takes. Below kAlone, as estimated for one thread, it gets one;
  /// above kTogether, as measured with one, it gets all again. Between them nothing changes.
  static constexpr double kAlone = 0.75, kTogether = 0.9;
  /// Windows before one thread is tried again where it did not keep up, so that a wrong estimate costs
  /// little.
  static constexpr int kPause = 64;

  /// `most` threads; `adapts` where there may be fewer.
  TeamChoice(int most, bool adapts) : most_(most), adapts_(adapts && most > 1) {}

  int threads() const { return alone_ ? 1 : most_; }
  bool adapts() const { return adapts_; }

  /// To be called where it adapts, when the launcher is done with a frame. `now_ns` is the time, and
  /// `processor_ns` what the launcher's thread has taken of the processors so far: time on the clock would
  /// count what others take from it on a busy machine.
  void launched(std::int64_t processor_ns, std::int64_t now_ns) {
    if (count_++ > 0 && count_ <= kWindow) return;
    if (count_ > 1)
      choose(static_cast<double>(processor_ns - processor_ns_) / static_cast<double>(now_ns - begin_ns_));
    count_ = 1, begin_ns_ = now_ns, processor_ns_ = processor_ns;
  }

 private:
  void choose(double share) {
    if (alone_) {
      alone_ = share < kTogether;
      if (!alone_) pause_ = kPause;
    } else if (pause_ > 0) {
      --pause_;
    } else {
      // The launcher does an equal part of each loop, so that one thread does at most as many times as much
      // as it does now.
      alone_ = share * most_ < kAlone;
    }
  }

  int most_;
  bool adapts_, alone_ = false;
  int count_ = 0, pause_ = 0;
  std::int64_t begin_ns_ = 0, processor_ns_ = 0;  // when the first of a window was done
};

}  // namespace contorno
