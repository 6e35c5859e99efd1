// The memory in which stages keep what they know of earlier frames (PlanContext::state), for one frame under
// way: what the frame begins with, and what it leaves to the next one. Frames that run at the same time each
// have one, and a frame takes a copy of what the frame before it left. So `run` is a function of the frame
// and that copy: a frame may be run again, and one that failed is passed over, because what it began with is
// still there. On CUDA the copy of what another frame left waits for its mark(); who begins with what another
// frame began with has waited for that frame. Used by one thread at a time, also when another one begins with
// it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory.h"
#include "cuda/stream.h"
#include "pipeline/graph/stage.h"

namespace contorno {

class CarriedState {
 public:
  enum class Side : std::uint8_t { Before, After };
  /// What a frame may begin with: what the last frame of `of` began with, or what it left; null: zeros.
  struct Link {
    const CarriedState* of = nullptr;
    Side side = Side::After;
  };

  /// Memory for `bytes`, on the device or not. What is there stays, with its addresses, if it is as large;
  /// otherwise the next frame begins with zeros. Stages ask for the same in every plan.
  void plan(std::size_t bytes, Backend backend);
  std::size_t bytes() const { return bytes_; }
  bool empty() const { return bytes_ == 0; }

  /// What the next frame begins with. Without a call that is what the last frame left, if settle() was called
  /// for it, and what that frame began with otherwise.
  void begin_with(const Link& link) { next_ = link; }
  const Link& next() const { return next_; }
  /// What the frame leaves that was brought last, whether or not that is known to be valid.
  Link left() const { return {this, Side::After}; }

  /// Before a frame: brings what it begins with, in the order of `stream`, and tells its number.
  void bring(std::uint64_t frame_number, void* stream);
  /// Called on CUDA when the work of the frame's last stage with a state is enqueued on `stream`: a frame
  /// that begins with what this one leaves waits for that work.
  void mark(void* stream) const;
  /// When the frame is complete and valid.
  void settle() { next_ = left(); }

  /// Puts the state that a frame begins with, and where it leaves its own, where stages look for them.
  void give_to(RunContext& context) const;

  /// A copy of the state: park() makes it before a frame that counts for nothing (the warm-up), restore()
  /// brings it back.
  struct Parked {
    Link next;
    Block copy;
  };
  Parked park(void* stream) const;
  void restore(const Parked& parked, void* stream);

 private:
  void copy(void* to, const void* from, std::size_t bytes, void* stream) const;

  std::size_t bytes_ = 0;
  bool on_device_ = false;
  Block both_;    // before and behind the frame
  Block number_;  // of the frame, for the backend to read
  Link next_;
  Event marked_;
};

}  // namespace contorno
