// The ring of frame slots between three threads: the reader fills slots, the launcher starts their work, the
// finisher hands results on. A slot is always in exactly one place, so memory is bounded by the number of
// slots, and frames leave in the order in which they came. Slots are indices here; what a slot holds is the
// runner's business.
//
//   reader:    held slot --offer--> queued        launcher: queued --take_queued--> --launched-->
//   finisher:  --take_launched--> --release--> free
//
// No call allocates. All are safe from any thread; each role is meant for one.
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

  /// The reader's slot is filled: queues it and gives the reader another. Wait: blocks until a slot is free.
  /// Drop policies never block; the frame that was dropped is named by its slot's ticket in `dropped`. False:
  /// the ring was stopped.
  struct Offer {
    bool open = true;
    bool dropped = false;       ///< one frame was dropped
    bool dropped_held = false;  ///< and it was the one just offered; otherwise it was the oldest queued one
  };
  Offer offer();

  /// No more frames will be offered; the launcher and finisher drain what there is.
  void close();
  /// Ends at once: everybody is woken, queued frames stay where they are and are counted by `left_queued`.
  void stop();
  /// Frames that were queued when the ring was stopped.
  int left_queued() const;

  /// The oldest queued slot, after waiting for it; nothing when closed and drained, or stopped.
  std::optional<int> take_queued();
  void launched(int slot);
  /// The oldest launched slot, after waiting for it; nothing when closed and everything was handed out, or
  /// stopped.
  std::optional<int> take_launched();
  void release(int slot);

  /// Blocks the reader until no frame is queued or under way: before formats change. False: stopped.
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
