// The ring of frame slots between three threads: the reader fills slots, the launcher starts their work, the
// finisher hands results on. A slot is always in exactly one state, so memory is bounded by the number of
// slots, and frames leave in the order in which they came. Here slots are indices; the runner owns what they
// stand for.
//
//   reader    offer:          held -> queued, and a free slot -> held
//   launcher  take_queued:    queued -> the launcher's;     launched: the launcher's -> launched
//   finisher  take_launched:  launched -> the finisher's
//   anybody   release:        the finisher's -> free
//
// The finisher may have several slots, which it has handed on to sinks. No call allocates memory. All are
// safe from any thread; each of the three roles is meant for one thread.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>

#include "pipeline/graph/graph.h"
#include "pipeline/run/adaptive_condition.h"
#include "pipeline/run/slot_fifo.h"

namespace contorno {

class SlotRing {
 public:
  /// `policy` must not be Auto; one that drops needs two slots, since the reader holds one, slot 0 at the
  /// start. `waiting` is how the launcher and the finisher wait; the reader always sleeps. The finisher gets
  /// no further slot while it has `most_taken`; 0 = any number.
  SlotRing(int slots, OnFull policy, Waiting waiting = Waiting::Adaptive, int most_taken = 0);

  /// The slot that the reader fills.
  int held() const { return held_; }

  /// Queues the reader's slot, which is filled, and gives the reader another. With the policy Wait it blocks
  /// until a slot is free; the others drop a frame instead. The result tells which, and is not `open` when
  /// the ring was stopped.
  struct Offer {
    bool open = true;
    bool dropped = false;       ///< one frame was dropped
    bool dropped_held = false;  ///< and it was the one just offered; otherwise it was the oldest queued one
  };
  /// Before the oldest frame is dropped, and while nobody can take a later one, `on_drop(slot)` is called.
  Offer offer(const std::function<void(int slot)>& on_drop = {});

  /// No more frames will be offered; the launcher and finisher drain what there is.
  void close();
  /// Ends at once: all waiting threads wake up; frames that are queued stay so and are counted by
  /// `left_queued`.
  void stop();
  /// Frames that were queued when the ring was stopped.
  int left_queued() const;

  /// Waits until a slot is queued, and leaves it there. False: none will be.
  bool wait_queued();
  bool has_queued() const;
  /// Waits for the oldest queued slot and takes it; nothing once the ring is closed and no slot is queued, or
  /// it was stopped.
  std::optional<int> take_queued();
  void launched(int slot);
  /// Whether take_launched would not wait.
  bool has_launched() const;
  /// Waits for the oldest launched slot and takes it; nothing once the ring is closed and all were released,
  /// or it was stopped.
  std::optional<int> take_launched();
  void release(int slot);

  /// Blocks the reader until no frame is queued or under way, which is needed before formats change. False:
  /// the ring was stopped.
  bool drain();

 private:
  int steal_oldest();

  const OnFull policy_;
  const int most_taken_;
  mutable std::mutex mutex_;
  std::condition_variable free_changed_;
  AdaptiveCondition queued_changed_, launched_changed_;
  SlotFifo free_, queued_, launched_;
  int under_way_ = 0;  // taken by the launcher, not yet released
  int taken_ = 0;      // of these, slots that the finisher has taken
  int held_ = 0;
  bool closed_ = false, stopped_ = false;
};

}  // namespace contorno
