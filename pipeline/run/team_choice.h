// How many threads the loops of the launcher take, where the user has not said it: all, or one alone where
// one keeps up. A loop that is shared out wakes threads up and waits for them, and they take processors from
// those who decode, encode and write; as long as the launcher has time left, they are better off without.
#pragma once

#include <cstdint>

namespace contorno {

/// Told of every launch. Used by one thread.
class TeamChoice {
 public:
  /// Launches that are looked at together.
  static constexpr int kWindow = 16;
  /// Shares of a processor: the launcher is left alone where, by an estimate, it would take less than the
  /// one, and is no longer where it takes more than the other.
  static constexpr double kAlone = 0.75, kTogether = 0.9;
  /// Windows before one thread is tried again where it did not keep up.
  static constexpr int kPause = 64;

  /// `most` threads; `adapts` where there may be fewer.
  TeamChoice(int most, bool adapts) : most_(most), adapts_(adapts && most > 1) {}

  int threads() const { return alone_ ? 1 : most_; }

  /// The work of a frame ended at `now_ns`, and the launcher has taken `processor_ns` since it began: time on
  /// the clock would count what others take from it on a busy machine.
  void launched(std::int64_t processor_ns, std::int64_t now_ns) {
    if (!adapts_) return;
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
      // One thread takes at most as many times as long as there are threads.
      alone_ = share * most_ < kAlone;
    }
  }

  int most_;
  bool adapts_, alone_ = false;
  int count_ = 0, pause_ = 0;
  std::int64_t begin_ns_ = 0, processor_ns_ = 0;  // when the first of a window was done
};

}  // namespace contorno
