#include "pipeline/run/ring.h"

#include "base/error.h"

namespace contorno {

SlotRing::SlotRing(int slots, OnFull policy, Waiting waiting, int most_taken)
    : policy_(policy),
      most_taken_(most_taken > 0 ? most_taken : slots),
      queued_changed_(waiting),
      launched_changed_(waiting),
      free_(static_cast<std::size_t>(slots)),
      queued_(static_cast<std::size_t>(slots)),
      launched_(static_cast<std::size_t>(slots)) {
  if (policy == OnFull::Auto) throw InternalError("a ring needs a policy that was decided");
  // The reader holds the only slot: every frame would be dropped.
  if (policy != OnFull::Wait && slots < 2) throw InternalError("a ring that drops needs two slots");
  for (int slot = 1; slot < slots; ++slot) free_.push(slot);
}

SlotRing::Offer SlotRing::offer(const std::function<void(int slot)>& on_drop) {
  std::unique_lock lock(mutex_);
  if (stopped_) return {.open = false};
  Offer result;
  if (free_.empty() && policy_ != OnFull::Wait) {
    result.dropped = true;
    // The oldest frame that nobody works on makes room; when there is none the new one has to go.
    result.dropped_held = policy_ == OnFull::DropNewest || (queued_.empty() && launched_.empty());
    if (result.dropped_held) return result;
    const int stolen = steal_oldest();
    if (on_drop) on_drop(stolen);
    free_.push(stolen);
  }
  queued_.push(held_);
  queued_changed_.changed();
  free_changed_.wait(lock, [&] { return stopped_ || !free_.empty(); });
  if (stopped_) return {.open = false};
  held_ = free_.pop();
  return result;
}

int SlotRing::steal_oldest() {
  // Whatever was launched came before whatever is queued.
  if (launched_.empty()) return queued_.pop();
  --under_way_;
  return launched_.pop();
}

void SlotRing::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  queued_changed_.changed();
  launched_changed_.changed();
}

void SlotRing::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = closed_ = true;
  free_changed_.notify_all();
  queued_changed_.changed();
  launched_changed_.changed();
}

int SlotRing::left_queued() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(queued_.size());
}

bool SlotRing::wait_queued() {
  std::unique_lock lock(mutex_);
  queued_changed_.wait(lock, [&] { return closed_ || !queued_.empty(); });
  return !stopped_ && !queued_.empty();
}

bool SlotRing::has_queued() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && !queued_.empty();
}

std::optional<int> SlotRing::take_queued() {
  std::unique_lock lock(mutex_);
  queued_changed_.wait(lock, [&] { return closed_ || !queued_.empty(); });
  if (stopped_ || queued_.empty()) return std::nullopt;
  queued_changed_.arrived();
  ++under_way_;
  return queued_.pop();
}

void SlotRing::launched(int slot) {
  const std::lock_guard lock(mutex_);
  launched_.push(slot);
  launched_changed_.changed();
}

bool SlotRing::has_launched() const {
  const std::lock_guard lock(mutex_);
  return !stopped_ && !launched_.empty() && taken_ < most_taken_;
}

std::optional<int> SlotRing::take_launched() {
  std::unique_lock lock(mutex_);
  launched_changed_.wait(lock, [&] {
    if (launched_.empty()) return stopped_ || (closed_ && queued_.empty() && under_way_ == 0);
    return stopped_ || taken_ < most_taken_;
  });
  if (stopped_ || launched_.empty()) return std::nullopt;
  launched_changed_.arrived();
  ++taken_;
  return launched_.pop();
}

void SlotRing::release(int slot) {
  const std::lock_guard lock(mutex_);
  // The finisher may wait until it may take another, or for the last frame; else it need not wake up.
  const bool finisher_waits = taken_ == most_taken_ || (closed_ && under_way_ == 1);
  --under_way_;
  --taken_;
  free_.push(slot);
  free_changed_.notify_all();
  if (finisher_waits) launched_changed_.changed();
}

bool SlotRing::drain() {
  std::unique_lock lock(mutex_);
  free_changed_.wait(lock, [&] { return stopped_ || (queued_.empty() && under_way_ == 0); });
  return !stopped_;
}

}  // namespace contorno
