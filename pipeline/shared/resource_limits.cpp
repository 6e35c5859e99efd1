#include "pipeline/shared/resource_limits.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>

#include <algorithm>
#include <latch>
#include <system_error>
#include <utility>
#include <vector>

#include "base/error.h"

namespace contorno {
namespace {

/// How many of `wanted` threads there can be at the same time, beside those that there are. Their stacks stay
/// with the C library for those that come next.
int threads_at_once(int wanted) {
  std::latch enough(1);
  std::vector<pthread_t> started;
  started.reserve(static_cast<std::size_t>(wanted));
  const auto wait = [](void* latch) -> void* {
    static_cast<std::latch*>(latch)->wait();
    return nullptr;
  };
  while (static_cast<int>(started.size()) < wanted) {
    pthread_t thread{};
    if (pthread_create(&thread, nullptr, wait, &enough) != 0) break;
    started.push_back(thread);
  }
  enough.count_down();
  for (const pthread_t thread : started) pthread_join(thread, nullptr);
  return static_cast<int>(started.size());
}

}  // namespace

void require_addresses(std::size_t bytes, const char* purpose) {
  void* const tried = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (tried == MAP_FAILED)
    throw Error(
        ExitCode::OutOfMemory,
        fmt::format(
            "out of memory {}: it takes {} MiB of addresses, which a limit (ulimit -v) does not leave",
            purpose, bytes >> 20));
  ::munmap(tried, bytes);
}

void require_threads(int count, const char* purpose) {
  if (const int there = threads_at_once(count); there < count)
    throw Error(
        ExitCode::OutOfMemory,
        fmt::format(
            "out of threads {}: it takes {}, and only {} can be started; limits are shown by ulimit -a",
            purpose, count, there));
}

int usable_threads(int wanted) {
  thread_local int tried = 1,
                   there = 1;  // the most that were asked for, and what there was; OpenMP keeps them
  if (wanted <= tried) return std::min(wanted, there);
  tried = wanted;
  const int all = threads_at_once(wanted - 1) + 1;
  // Where there are too few, half of them: the rest of the process goes on taking memory.
  there = all < wanted ? std::max(1, all / 2) : all;
  return there;
}

std::thread start_thread(std::string name, std::function<void()> body) {
  constexpr std::size_t kKept = 15;  // longer names are refused
  try {
    return std::thread([kept = name.substr(0, kKept), body = std::move(body)] {
      ::pthread_setname_np(::pthread_self(), kept.c_str());
      body();
    });
  } catch (const std::system_error& error) {
    throw Error(ExitCode::OutOfMemory,
                fmt::format("out of memory: a thread cannot be started ({}; limits are shown by ulimit -a)",
                            error.what()));
  }
}

}  // namespace contorno
