#include "plugins/gst/element/part_threads.h"

#include <utility>

#include "pipeline/shared/resource_limits.h"

namespace contorno::gst {

PartThreads::PartThreads(int helpers) {
  threads_.reserve(static_cast<std::size_t>(helpers));
  try {
    for (int i = 0; i < helpers; ++i) threads_.push_back(start_thread("copying", [this] { help(); }));
  } catch (...) {
    stop();
    throw;
  }
}

PartThreads::~PartThreads() {
  stop();
}

void PartThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  begun_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void PartThreads::run_parts(int parts, const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work, next_ = 0, parts_ = parts;
  begun_.notify_all();
  take_parts(lock);
  ended_.wait(lock, [&] { return under_way_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void PartThreads::help() {
  std::unique_lock lock(mutex_);
  for (;;) {
    begun_.wait(lock, [&] { return stopping_ || next_ < parts_; });
    if (stopping_) return;
    take_parts(lock);
  }
}

/// Until none is left; others may still be under way.
void PartThreads::take_parts(std::unique_lock<std::mutex>& lock) {
  while (next_ < parts_) {
    const int part = next_++;
    ++under_way_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      (*work_)(part);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (!failure_) failure_ = failure;
    --under_way_;
  }
  if (under_way_ == 0) ended_.notify_all();
}

}  // namespace contorno::gst
