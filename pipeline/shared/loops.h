// Parallel loops of the CPU backend (OpenMP). Outputs of different rows or tasks are disjoint, so that
// results do not depend on the number of threads: a loop takes as many as it was given, or as many as can be
// started. Before a call that loops for long, its thread may set a LoopWatch, which can end the loops early.
#pragma once

#include <algorithm>
#include <atomic>
#include <exception>

#include "base/error.h"
#include "pipeline/shared/resource_limits.h"
#include "pipeline/shared/threads.h"

namespace contorno {

/// Asked between the rows or tasks of every loop that its thread starts, by that thread alone. When go_on()
/// returns false the loop throws Error(Interrupted).
class LoopWatch {
 public:
  virtual ~LoopWatch() = default;
  virtual bool go_on() = 0;
};

/// The watch of this thread, borrowed; null: none. Threads of a loop do not inherit it.
inline constinit thread_local LoopWatch* loop_watch = nullptr;

/// The most threads that loops of this thread take, however many they are given.
inline constinit thread_local int most_loop_threads = kMostThreads;

/// Called before each row or task; throws Error(Interrupted) if the watch says so.
inline void look_at_watch() {
  if (loop_watch != nullptr && !loop_watch->go_on()) throw Error(ExitCode::Interrupted, "interrupted");
}

/// Calls f(row) for 0 <= row < rows, in contiguous strips, one strip a thread. An exception of f ends the
/// loop and is thrown to the caller.
template <class F>
void for_rows(int threads, int rows, const F& f) {
  const int team = rows > 1 ? usable_threads(std::min(threads, most_loop_threads)) : 1;
  if (team <= 1) {
    for (int row = 0; row < rows; ++row) {
      look_at_watch();
      f(row);
    }
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
#pragma omp parallel for schedule(static) num_threads(team)
  for (int row = 0; row < rows; ++row) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      look_at_watch();
      f(row);
    } catch (...) {
#pragma omp critical(contorno_for_rows)
      failure = std::current_exception();
      failed = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Calls f(task) for 0 <= task < tasks, each by the next idle thread. An exception of f ends the loop and is
/// thrown to the caller.
template <class F>
void for_tasks(int threads, int tasks, const F& f) {
  const int team = tasks > 1 ? usable_threads(std::min(threads, most_loop_threads)) : 1;
  if (team <= 1) {
    for (int task = 0; task < tasks; ++task) {
      look_at_watch();
      f(task);
    }
    return;
  }
  std::exception_ptr failure;
  std::atomic<bool> failed = false;
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (int task = 0; task < tasks; ++task) {
    if (failed.load(std::memory_order_relaxed)) continue;
    try {
      look_at_watch();
      f(task);
    } catch (...) {
#pragma omp critical(contorno_for_tasks)
      failure = std::current_exception();
      failed = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace contorno
