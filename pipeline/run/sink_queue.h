// The frames that wait for one sink, between the finisher and the sink's own thread. Frames are slots, and
// the slots bound the queue: with OnFull::Wait it takes whatever comes, and the ring waits until slots are
// released. With OnFull::DropOldest it holds no more than it was given, so that the sink never has all slots.
//
//   finisher       offer:  a slot -> queued
//   sink's thread  take:   queued -> in work; says too that the slot taken before is no longer in use
//
// No call allocates memory. The finisher, the sink's thread and one that controls both may call at the same
// time.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>

#include "pipeline/graph/graph.h"
#include "pipeline/run/adaptive_condition.h"
#include "pipeline/run/slot_fifo.h"

namespace contorno {

class SinkQueue {
 public:
  /// `policy` is Wait or DropOldest, which holds `most_held` slots at most, the one in work included.
  SinkQueue(int slots, OnFull policy, int most_held, Waiting waiting);

  /// The slot that had to go because the queue is full: the oldest that waited, or `slot` itself where none
  /// did. Nothing with the policy Wait.
  std::optional<int> offer(int slot);

  /// Waits for the oldest slot and takes it; nothing once the queue is closed and empty. kNudged where none
  /// is queued and the thread was nudged.
  std::optional<int> take();
  static constexpr int kNudged = -1;
  bool has_queued() const;

  /// Has `take` return kNudged once nothing is queued; `limit` is what nudged() says then, the greatest of
  /// several. By who offers.
  void nudge(std::uint64_t limit);
  /// The limit that a kNudged goes with; for the thread that took it.
  std::uint64_t nudged() const { return taken_limit_; }

  /// Has `work` done by the thread that calls `take`, once the queue is empty, and waits for it. Throws what
  /// it throws. One call at a time, and only before close(): otherwise it may never return.
  void call(const std::function<void()>& work);

  /// No more slots will be offered; what is queued is still handed out.
  void close();

 private:
  void answer_call(std::unique_lock<std::mutex>& lock);

  const OnFull policy_;
  const std::size_t most_held_;
  mutable std::mutex mutex_;
  AdaptiveCondition changed_;
  SlotFifo queued_;
  bool in_work_ = false, closed_ = false;
  std::uint64_t nudge_limit_ = 0, taken_limit_ = 0;  // 0: not nudged; the second is the sink's thread's
  const std::function<void()>* call_ = nullptr;
  std::condition_variable answered_;
  std::exception_ptr failure_;  // what the call threw
};

}  // namespace contorno
