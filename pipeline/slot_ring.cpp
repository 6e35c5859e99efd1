#include "pipeline/slot_ring.h"

#include <algorithm>

#include "cuda/error.h"

namespace contorno {
namespace {

// With a single slot a drop policy would drop every frame: the reader holds the only one.
int slots_needed(int slots, OnFull policy) {
  return policy == OnFull::Wait ? slots : std::max(slots, 2);
}

}  // namespace

SlotRing::SlotRing(int slots, OnFull policy)
    : policy_(policy),
      free_(static_cast<std::size_t>(slots_needed(slots, policy))),
      queued_(static_cast<std::size_t>(slots_needed(slots, policy))),
      launched_(static_cast<std::size_t>(slots_needed(slots, policy))) {
  if (policy == OnFull::Auto) throw InternalError("a ring needs a policy that was decided");
  for (int slot = 1; slot < slots_needed(slots, policy); ++slot) free_.push(slot);
}

SlotRing::Offer SlotRing::offer() {
  std::unique_lock lock(mutex_);
  if (stopped_) return {.open = false};
  Offer result;
  if (free_.empty() && policy_ != OnFull::Wait) {
    result.dropped = true;
    // The oldest frame that nobody works on makes room; when there is none the new one has to go.
    result.dropped_held = policy_ == OnFull::DropNewest || (queued_.empty() && launched_.empty());
    if (result.dropped_held) return result;
    free_.push(steal_oldest());
  }
  queued_.push(held_);
  queued_changed_.notify_one();
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
  queued_changed_.notify_all();
  launched_changed_.notify_all();
}

void SlotRing::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = closed_ = true;
  free_changed_.notify_all();
  queued_changed_.notify_all();
  launched_changed_.notify_all();
}

int SlotRing::left_queued() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(queued_.size());
}

std::optional<int> SlotRing::take_queued() {
  std::unique_lock lock(mutex_);
  queued_changed_.wait(lock, [&] { return closed_ || !queued_.empty(); });
  if (stopped_ || queued_.empty()) return std::nullopt;
  ++under_way_;
  return queued_.pop();
}

void SlotRing::launched(int slot) {
  const std::lock_guard lock(mutex_);
  launched_.push(slot);
  launched_changed_.notify_one();
}

std::optional<int> SlotRing::take_launched() {
  std::unique_lock lock(mutex_);
  launched_changed_.wait(lock, [&] {
    return stopped_ || !launched_.empty() || (closed_ && queued_.empty() && under_way_ == 0);
  });
  if (stopped_ || launched_.empty()) return std::nullopt;
  return launched_.pop();
}

void SlotRing::release(int slot) {
  const std::lock_guard lock(mutex_);
  --under_way_;
  free_.push(slot);
  free_changed_.notify_all();
  // The finisher itself may be the one that waits for the last frame.
  launched_changed_.notify_all();
}

bool SlotRing::drain() {
  std::unique_lock lock(mutex_);
  free_changed_.wait(lock, [&] { return stopped_ || (queued_.empty() && under_way_ == 0); });
  return !stopped_;
}

}  // namespace contorno
