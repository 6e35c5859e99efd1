// What a thread says of its work, so that somebody else can judge whether it gets on (ProgressJudge). Written
// by the thread itself as it comes and goes, read by any; no time is in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace contorno {

enum class Activity : std::uint8_t {
  Gone,     ///< it has not begun, or has ended
  Idle,     ///< it waits for something to do
  Waiting,  ///< it waits for who is not of this program, or for a thread that answers for itself
  AtGate,   ///< it waits until it may work
  AtWork,
};

class WorkSign {
 public:
  void note(Activity activity) {
    activity_.store(activity, std::memory_order_relaxed);
    steps_.fetch_add(1, std::memory_order_relaxed);
  }
  Activity activity() const { return activity_.load(std::memory_order_relaxed); }
  /// Grows with every call of note, and with all that others count in step_counter().
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }
  /// For a wait within the work, which looks again and again whether it has been long enough.
  std::atomic<std::uint64_t>& step_counter() { return steps_; }

 private:
  std::atomic<Activity> activity_ = Activity::Gone;
  std::atomic<std::uint64_t> steps_ = 0;
};

}  // namespace contorno
