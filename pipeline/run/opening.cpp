#include "pipeline/run/opening.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "pipeline/shared/resource_limits.h"

namespace contorno {
namespace {

std::atomic<int> left = 0;

constexpr std::chrono::milliseconds kLookAtStop{10}, kGrace{500};

/// Shared by who waits and the thread that opens, whichever lasts longer.
struct Attempt {
  explicit Attempt(OpenSource wanted) : open(std::move(wanted)) {}
  void run() {
    std::unique_ptr<Source> made;
    std::exception_ptr thrown;
    try {
      made = open();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    source = std::move(made);
    failure = thrown;
    ended = true;
    if (is_left) --left;
    changed.notify_all();
  }

  OpenSource open;
  std::mutex mutex;
  std::condition_variable changed;
  bool ended = false, is_left = false;
  std::unique_ptr<Source> source;
  std::exception_ptr failure;
};

}  // namespace

std::unique_ptr<Source> open_unless_stopped(const OpenSource& open, const std::atomic<bool>& stopped) {
  const auto attempt = std::make_shared<Attempt>(open);
  std::thread thread = start_thread("opening", [attempt] { attempt->run(); });
  std::unique_lock lock(attempt->mutex);
  const auto ended = [&] { return attempt->ended; };
  while (!stopped && !attempt->changed.wait_for(lock, kLookAtStop, ended)) {
  }
  if (!attempt->changed.wait_for(lock, kGrace, ended)) {
    attempt->is_left = true;
    ++left;
    lock.unlock();
    thread.detach();
    return nullptr;
  }
  lock.unlock();
  thread.join();
  if (stopped) return nullptr;
  if (attempt->failure) std::rethrow_exception(attempt->failure);
  return std::move(attempt->source);
}

int openings_left() {
  return left;
}

}  // namespace contorno
