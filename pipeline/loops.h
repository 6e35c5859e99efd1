// Loops of the CPU backend (OpenMP), with the same verbs as cuda/launch.cuh. Static schedules and disjoint
// outputs, so that results do not depend on the number of threads.
#pragma once

#include <exception>

namespace contorno {

/// f(row) for 0 <= row < rows, in contiguous strips, one strip a thread. Exceptions leave through the caller.
template <class F>
void for_rows(int threads, int rows, const F& f) {
  if (threads <= 1 || rows <= 1) {
    for (int row = 0; row < rows; ++row) f(row);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int row = 0; row < rows; ++row) {
    try {
      f(row);
    } catch (...) {
#pragma omp critical(contorno_for_rows)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// f(task) for 0 <= task < tasks, each taken by the next idle thread. The tasks' outputs must be disjoint.
template <class F>
void for_tasks(int threads, int tasks, const F& f) {
  if (threads <= 1 || tasks <= 1) {
    for (int task = 0; task < tasks; ++task) f(task);
    return;
  }
  std::exception_ptr failure;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int task = 0; task < tasks; ++task) {
    try {
      f(task);
    } catch (...) {
#pragma omp critical(contorno_for_tasks)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace contorno
