// Parallel loops of the CPU backend. The team of threads (OpenMP) is the library's, so that they are parallel
// whichever way a caller is compiled. Outputs of different rows or tasks are disjoint, so that results do not
// depend on the number of threads: a loop takes as many as it was given, or as many as can be started. Before
// a call that loops for long, its thread may set a LoopWatch, which can end the loops early.
#pragma once

#include <atomic>
#include <memory>

#include "pipeline/shared/threads.h"

namespace contorno {

/// Asked before each row or task that the thread which has set it works on itself, in every loop that this
/// thread starts. When go_on() returns false, the loop throws Error(Interrupted).
class LoopWatch {
 public:
  virtual ~LoopWatch() = default;
  virtual bool go_on() = 0;
};

/// The watch of this thread, borrowed; null: none. Threads of a loop do not inherit it.
extern constinit thread_local LoopWatch* loop_watch;

/// The most threads that loops of this thread take, whatever they are given. The runner sets it for the
/// thread that launches frames (pipeline/run/team_choice.h); elsewhere it limits nothing.
extern constinit thread_local int most_loop_threads;

/// Asks the watch of this thread, which must have one; throws Error(Interrupted) if it says so.
void look_at_watch();

/// A reference to the function object of a loop, borrowed, which is called for a range of rows or tasks.
class LoopBody {
 public:
  template <class F>
  explicit LoopBody(const F& f) : object_(std::addressof(f)), call_(&call<F>) {}
  /// Ends early once another thread has set `failed` (null: there is none).
  void operator()(int begin, int end, const std::atomic<bool>* failed) const {
    call_(object_, begin, end, failed);
  }

 private:
  template <class F>
  static void call(const void* object, int begin, int end, const std::atomic<bool>* failed) {
    const F& f = *static_cast<const F*>(object);
    for (int index = begin; index < end; ++index) {
      if (failed != nullptr && failed->load(std::memory_order_relaxed)) return;
      if (loop_watch != nullptr) look_at_watch();
      f(index);
    }
  }

  const void* object_;
  void (*call_)(const void* object, int begin, int end, const std::atomic<bool>* failed);
};

/// What for_rows and for_tasks call; not for others.
void run_rows(int threads, int rows, LoopBody body);
void run_tasks(int threads, int tasks, LoopBody body);

/// Calls f(row) for 0 <= row < rows, in contiguous strips, one strip a thread: for rows that take equally
/// long. `threads` is at least 1 (decided_threads makes all of 0). An exception of f ends the loop, once rows
/// under way are done, and is thrown to the caller: one of them where several threads throw. A loop in a loop
/// is given one thread.
template <class F>
void for_rows(int threads, int rows, const F& f) {
  run_rows(threads, rows, LoopBody(f));
}

/// Calls f(task) for 0 <= task < tasks, each by the next idle thread: for uneven work. All else as for_rows.
template <class F>
void for_tasks(int threads, int tasks, const F& f) {
  run_tasks(threads, tasks, LoopBody(f));
}

}  // namespace contorno
