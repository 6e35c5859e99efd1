// A condition variable for a thread that waits for frames, with the two ways to wait (Waiting): asleep, or
// asleep until shortly before the next frame is due and then looking again and again. All calls are made with
// the mutex held that goes with it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "pipeline/graph/graph.h"
#include "pipeline/run/forecast.h"
#include "pipeline/shared/clock.h"

namespace contorno {

/// Any number of threads may call `changed`; one waits.
class AdaptiveCondition {
 public:
  explicit AdaptiveCondition(Waiting waiting) : waiting_(waiting) {}

  /// What is waited for may have come true.
  void changed() {
    changes_.fetch_add(1, std::memory_order_release);
    condition_.notify_all();
  }
  /// A frame was waited for, and has come.
  void arrived() { forecast_.arrived(now_ns()); }

  /// Returns when `ready()`, which is asked with the mutex held.
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, const Ready& ready) {
    using Clock = std::chrono::steady_clock;  // the clock of now_ns()
    if (const auto window = forecast_.next(); waiting_ == Waiting::Adaptive && window) {
      const Clock::time_point begin{std::chrono::nanoseconds(window->begin)};
      if (condition_.wait_until(lock, begin, ready)) return;
      poll(lock, window->end, ready);
    }
    condition_.wait(lock, ready);
  }

 private:
  /// Returns when `ready()`, or when `until_ns` has passed; gives the mutex back in between.
  template <class Ready>
  void poll(std::unique_lock<std::mutex>& lock, std::int64_t until_ns, const Ready& ready) {
    while (!ready() && now_ns() < until_ns) {
      const std::uint32_t seen = changes_.load(std::memory_order_acquire);
      lock.unlock();
      // Gives way to others that want this processor; returns at once when there are none.
      while (changes_.load(std::memory_order_acquire) == seen && now_ns() < until_ns)
        std::this_thread::yield();
      lock.lock();
    }
  }

  const Waiting waiting_;
  std::condition_variable condition_;
  ArrivalForecast forecast_;
  std::atomic<std::uint32_t> changes_ = 0;  // counts changes; read by polling threads without the mutex
};

}  // namespace contorno
