#include "pipeline/run/sink_queue.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace contorno {

SinkQueue::SinkQueue(int slots, OnFull policy, int most_held, Waiting waiting)
    : policy_(policy),
      most_held_(static_cast<std::size_t>(most_held)),
      changed_(waiting),
      queued_(static_cast<std::size_t>(slots)) {
  if (policy != OnFull::Wait && policy != OnFull::DropOldest)
    throw InternalError("a sink waits or drops the oldest frame");
}

std::optional<int> SinkQueue::offer(int slot) {
  const std::lock_guard lock(mutex_);
  std::optional<int> gone;
  if (policy_ != OnFull::Wait && queued_.size() + (in_work_ ? 1 : 0) >= most_held_) {
    if (queued_.empty()) return slot;
    gone = queued_.pop();
  }
  queued_.push(slot);
  changed_.changed();
  return gone;
}

std::optional<int> SinkQueue::take() {
  std::unique_lock lock(mutex_);
  in_work_ = false;
  for (;;) {
    changed_.wait(lock, [&] { return closed_ || call_ != nullptr || !queued_.empty() || nudge_limit_ != 0; });
    if (!queued_.empty()) break;
    if (nudge_limit_ != 0) {
      taken_limit_ = std::exchange(nudge_limit_, 0);
      return kNudged;
    }
    if (call_ == nullptr) return std::nullopt;
    answer_call(lock);
  }
  changed_.arrived();
  in_work_ = true;
  return queued_.pop();
}

bool SinkQueue::has_queued() const {
  const std::lock_guard lock(mutex_);
  return !queued_.empty();
}

void SinkQueue::nudge(std::uint64_t limit) {
  const std::lock_guard lock(mutex_);
  nudge_limit_ = std::max(nudge_limit_, limit);
  changed_.changed();
}

void SinkQueue::answer_call(std::unique_lock<std::mutex>& lock) {
  const std::function<void()>& work = *call_;
  lock.unlock();
  std::exception_ptr failure;
  try {
    work();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  failure_ = std::move(failure);
  call_ = nullptr;
  answered_.notify_all();
}

void SinkQueue::call(const std::function<void()>& work) {
  std::unique_lock lock(mutex_);
  call_ = &work;
  changed_.changed();
  answered_.wait(lock, [&] { return call_ == nullptr; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void SinkQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.changed();
}

}  // namespace contorno
