// The ring of frame slots between three threads: the reader fills slots, the launcher starts their work, the
// finisher hands results on. A slot is always in exactly one state, so memory is bounded by the number of
// slots, and frames leave in the order in which they came. Here slots are indices; the runner owns what they
// stand for.
//
//   reader    offer:          held -> queued, and a free slot -> held
//   launcher  take_queued:    queued -> the launcher's;     launched: the launcher's -> launched
//   finisher  take_launched:  launched -> the finisher's;   release:  the finisher's -> free
//
// No call allocates memory. All are safe from any thread; each of the three roles is meant for one thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/graph/graph.h"
#include "pipeline/run/forecast.h"

namespace contorno {

class SlotRing {
 public:
  /// `policy` must not be Auto. The reader holds slot 0 from the start. `waiting` is how the launcher and the
  /// finisher wait; the reader always sleeps.
  SlotRing(int slots, OnFull policy, Waiting waiting = Waiting::Adaptive);

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
  Offer offer();

  /// No more frames will be offered; the launcher and finisher drain what there is.
  void close();
  /// Ends at once: all waiting threads wake up; frames that are queued stay so and are counted by
  /// `left_queued`.
  void stop();
  /// Frames that were queued when the ring was stopped.
  int left_queued() const;

  /// Waits for the oldest queued slot and takes it; nothing once the ring is closed and no slot is queued, or
  /// it was stopped.
  std::optional<int> take_queued();
  void launched(int slot);
  /// Waits for the oldest launched slot and takes it; nothing once the ring is closed and all were handed
  /// out, or it was stopped.
  std::optional<int> take_launched();
  void release(int slot);

  /// Blocks the reader until no frame is queued or under way, which is needed before formats change. False:
  /// the ring was stopped.
  bool drain();

 private:
  /// First in, first out, of at most as many slots as there are.
  class Fifo {
   public:
    explicit Fifo(std::size_t capacity) : items_(capacity) {}
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    void push(int slot) { items_[(first_ + count_++) % items_.size()] = slot; }
    int pop() {
      const int slot = items_[first_];
      first_ = (first_ + 1) % items_.size();
      --count_;
      return slot;
    }

   private:
    std::vector<int> items_;
    std::size_t first_ = 0, count_ = 0;
  };

  int steal_oldest();
  void changed(std::condition_variable& condition);
  template <class Ready>
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& condition,
            const ArrivalForecast& forecast, const Ready& ready);
  template <class Ready>
  void spin(std::unique_lock<std::mutex>& lock, std::int64_t until_ns, const Ready& ready);

  const OnFull policy_;
  const Waiting waiting_;
  mutable std::mutex mutex_;
  std::condition_variable free_changed_, queued_changed_, launched_changed_;
  Fifo free_, queued_, launched_;
  ArrivalForecast queued_forecast_, launched_forecast_;  // the launcher's and the finisher's
  int under_way_ = 0;                                    // taken by the launcher, not yet released
  int held_ = 0;
  bool closed_ = false, stopped_ = false;
  std::atomic<std::uint32_t> changes_ = 0;  // written with the mutex held; what a spinning thread looks at
};

}  // namespace contorno
