#include "pipeline/run/ring.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "cuda/error.h"
#include "pipeline/shared/clock.h"

namespace contorno {
namespace {

// With a single slot a drop policy would drop every frame: the reader holds the only one.
int slots_needed(int slots, OnFull policy) {
  return policy == OnFull::Wait ? slots : std::max(slots, 2);
}

}  // namespace

SlotRing::SlotRing(int slots, OnFull policy, Waiting waiting)
    : policy_(policy),
      waiting_(waiting),
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
  changed(queued_changed_);
  free_changed_.wait(lock, [&] { return stopped_ || !free_.empty(); });
  if (stopped_) return {.open = false};
  held_ = free_.pop();
  return result;
}

void SlotRing::changed(std::condition_variable& condition) {
  changes_.fetch_add(1, std::memory_order_release);
  condition.notify_all();
}

template <class Ready>
void SlotRing::wait(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
                    const ArrivalForecast& forecast, const Ready& ready) {
  using Clock = std::chrono::steady_clock;  // that of now_ns
  if (const auto window = forecast.next(); waiting_ == Waiting::Adaptive && window) {
    const Clock::time_point begin{std::chrono::nanoseconds(window->begin)};
    if (condition.wait_until(lock, begin, ready)) return;
    spin(lock, window->end, ready);
  }
  condition.wait(lock, ready);
}

/// Returns when `ready`, or when `until_ns` has passed; gives the mutex back in between.
template <class Ready>
void SlotRing::spin(std::unique_lock<std::mutex>& lock, std::int64_t until_ns, const Ready& ready) {
  while (!ready() && now_ns() < until_ns) {
    const std::uint32_t seen = changes_.load(std::memory_order_acquire);
    lock.unlock();
    // Gives way to others that want this processor; returns at once when there are none.
    while (changes_.load(std::memory_order_acquire) == seen && now_ns() < until_ns) std::this_thread::yield();
    lock.lock();
  }
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
  changed(queued_changed_);
  changed(launched_changed_);
}

void SlotRing::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = closed_ = true;
  changed(free_changed_);
  changed(queued_changed_);
  changed(launched_changed_);
}

int SlotRing::left_queued() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(queued_.size());
}

std::optional<int> SlotRing::take_queued() {
  std::unique_lock lock(mutex_);
  wait(lock, queued_changed_, queued_forecast_, [&] { return closed_ || !queued_.empty(); });
  if (stopped_ || queued_.empty()) return std::nullopt;
  queued_forecast_.arrived(now_ns());
  ++under_way_;
  return queued_.pop();
}

void SlotRing::launched(int slot) {
  const std::lock_guard lock(mutex_);
  launched_.push(slot);
  changed(launched_changed_);
}

std::optional<int> SlotRing::take_launched() {
  std::unique_lock lock(mutex_);
  wait(lock, launched_changed_, launched_forecast_,
       [&] { return stopped_ || !launched_.empty() || (closed_ && queued_.empty() && under_way_ == 0); });
  if (stopped_ || launched_.empty()) return std::nullopt;
  launched_forecast_.arrived(now_ns());
  return launched_.pop();
}

void SlotRing::release(int slot) {
  const std::lock_guard lock(mutex_);
  --under_way_;
  free_.push(slot);
  changed(free_changed_);
  // The finisher itself may be the one that waits for the last frame.
  changed(launched_changed_);
}

bool SlotRing::drain() {
  std::unique_lock lock(mutex_);
  free_changed_.wait(lock, [&] { return stopped_ || (queued_.empty() && under_way_ == 0); });
  return !stopped_;
}

}  // namespace contorno
