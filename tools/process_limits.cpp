#include "tools/process_limits.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "base/error.h"

namespace contorno {
namespace {

/// Enough for decoders, which live with less elsewhere; 8 MiB a thread are a quarter of a small limit.
constexpr std::size_t kThreadStack = std::size_t{1} << 20;
constexpr std::size_t kMainStack = std::size_t{512} << 10;

[[gnu::noinline]] void map_stack() {
  volatile std::byte stack[kMainStack];
  for (std::size_t i = 0; i < kMainStack; i += 4096) stack[i] = std::byte{0};
  static_cast<void>(stack[0]);
}

std::atomic<bool> came_to_its_end = false;

/// At the end of the process: a library that gives up for want of memory ends it with 1 while a command is at
/// work, which becomes the exit code of that.
void on_end(int status, void*) {
  if (!came_to_its_end && status == EXIT_FAILURE) ::_exit(static_cast<int>(ExitCode::OutOfMemory));
}

void make_threads_small() {
  mallopt(M_ARENA_MAX, 1);
  pthread_attr_t attributes{};
  if (pthread_attr_init(&attributes) != 0) return;
  if (pthread_attr_setstacksize(&attributes, kThreadStack) == 0) pthread_setattr_default_np(&attributes);
  pthread_attr_destroy(&attributes);
}

}  // namespace

void settle_process_limits() {
  on_exit(on_end, nullptr);
  rlimit addresses{};
  if (getrlimit(RLIMIT_AS, &addresses) != 0 || addresses.rlim_cur == RLIM_INFINITY) return;
  map_stack();
  make_threads_small();
}

int end_with(int code) {
  came_to_its_end = true;
  return code;
}

}  // namespace contorno
