// What a thread publishes of its progress: what it does, and a counter that grows with every step. A watchdog
// compares counters over time (pipeline/run/progress_judge.h), so that no clock is read here.
#pragma once

#include <atomic>
#include <cstdint>

namespace contorno {

enum class Activity : std::uint8_t {
  Gone,     ///< the thread has not begun, or has ended
  Idle,     ///< it waits for a frame: a hang where there is one that it could take
  Waiting,  ///< it is blocked by a camera, a broker or another process, or by a thread that has a sign of its
            ///< own: never a hang
  AtGate,   ///< it waits for a permit of the LaunchGate: a hang where those who have permits make no steps
  AtWork,   ///< it works on a frame: a hang where no step comes
};

/// Written by its thread, read by any. Readers may see the counter ahead of the activity or behind it: who
/// judges looks again.
class WorkSign {
 public:
  /// A step: the thread does something else from now on.
  void note(Activity activity) {
    activity_.store(activity, std::memory_order_relaxed);
    note_step();
  }
  Activity activity() const { return activity_.load(std::memory_order_relaxed); }
  /// A step within the same activity: of a loop that waits with a time limit of its own, once a look, so that
  /// it does not count as a hang. Any thread that waits on this one's behalf may call it.
  void note_step() { steps_.fetch_add(1, std::memory_order_relaxed); }
  std::uint64_t steps() const { return steps_.load(std::memory_order_relaxed); }

 private:
  std::atomic<Activity> activity_ = Activity::Gone;
  std::atomic<std::uint64_t> steps_ = 0;
};

}  // namespace contorno
