#include "pipeline/shared/loops.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>

#include "base/error.h"
#include "pipeline/shared/resource_limits.h"

namespace contorno {

constinit thread_local LoopWatch* loop_watch = nullptr;
constinit thread_local int most_loop_threads = kMostThreads;

void look_at_watch() {
  if (!loop_watch->go_on()) throw Error(ExitCode::Interrupted, "interrupted");
}

namespace {

int team_of(int threads, int count) {
  return count > 1 ? usable_threads(std::min(threads, most_loop_threads)) : 1;
}

/// What the threads of a loop share: its body, and an exception of it.
class Attempt {
 public:
  explicit Attempt(LoopBody body) : body_(body) {}
  void operator()(int begin, int end) {
    try {
      body_(begin, end, &failed_);
    } catch (...) {
#pragma omp critical(contorno_loop)
      failure_ = std::current_exception();
      failed_ = true;
    }
  }
  void tell() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  LoopBody body_;
  std::exception_ptr failure_;
  std::atomic<bool> failed_ = false;
};

}  // namespace

void run_rows(int threads, int rows, LoopBody body) {
  const int team = team_of(threads, rows);
  if (team <= 1) return body(0, rows, nullptr);
  Attempt attempt(body);
  // Strips as equal as they can be, whatever the number of threads is that OpenMP grants.
#pragma omp parallel num_threads(team)
  {
    const int there = omp_get_num_threads(), own = omp_get_thread_num();
    const int each = rows / there, longer = rows % there;
    const int begin = own * each + std::min(own, longer);
    attempt(begin, begin + each + (own < longer ? 1 : 0));
  }
  attempt.tell();
}

void run_tasks(int threads, int tasks, LoopBody body) {
  const int team = team_of(threads, tasks);
  if (team <= 1) return body(0, tasks, nullptr);
  Attempt attempt(body);
#pragma omp parallel for schedule(dynamic, 1) num_threads(team)
  for (int task = 0; task < tasks; ++task) attempt(task, task + 1);
  attempt.tell();
}

}  // namespace contorno
