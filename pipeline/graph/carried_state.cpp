#include "pipeline/graph/carried_state.h"

#include <cstring>

namespace contorno {

void CarriedState::plan(std::size_t bytes, Backend backend) {
  const bool on_device = backend == Backend::Cuda;
  if (bytes_ == align_up(bytes) && on_device_ == on_device) return;
  bytes_ = align_up(bytes), on_device_ = on_device, next_ = {};
  both_ = Block(), number_ = Block();
  if (bytes_ == 0) return;
  both_ = Block(2 * bytes_, on_device ? MemoryKind::Device : MemoryKind::Host);
  number_ = Block(sizeof(std::uint64_t), MemoryKind::Pinned);
  if (on_device && !marked_) marked_ = Event::create();
}

void CarriedState::copy(void* to, const void* from, std::size_t bytes, void* stream) const {
  if (on_device_)
    copy_async(to, from, bytes, stream);
  else
    std::memcpy(to, from, bytes);
}

void CarriedState::bring(std::uint64_t frame_number, void* stream) {
  if (bytes_ == 0) return;
  std::memcpy(number_.data(), &frame_number, sizeof frame_number);
  std::byte* const before = both_.data();
  const bool is_there = next_.of == this && next_.side == Side::Before;
  if (next_.of == nullptr && on_device_) {
    // Also what frames leave: one that does not fit, and will be run again, may leave it unwritten.
    fill_async(before, 0, 2 * bytes_, stream);
  } else if (next_.of == nullptr) {
    std::memset(before, 0, 2 * bytes_);
  } else if (!is_there) {
    if (on_device_ && next_.of != this && next_.side == Side::After) next_.of->marked_.make_wait(stream);
    copy(before, next_.of->both_.data() + (next_.side == Side::After ? bytes_ : 0), bytes_, stream);
  }
  next_ = {this, Side::Before};
}

void CarriedState::mark(void* stream) const {
  if (bytes_ > 0) marked_.mark(stream);
}

void CarriedState::give_to(RunContext& context) const {
  if (bytes_ == 0) return;
  context.states_before = both_.data();
  context.states_after = both_.data() + bytes_;
  context.frame_number = reinterpret_cast<const std::uint64_t*>(number_.data());
}

CarriedState::Parked CarriedState::park(void* stream) const {
  Parked parked{next_, {}};
  if (bytes_ == 0 || next_.of == nullptr) return parked;
  parked.copy = Block(both_.size(), both_.kind());
  copy(parked.copy.data(), both_.data(), both_.size(), stream);
  return parked;
}

void CarriedState::restore(const Parked& parked, void* stream) {
  next_ = parked.next;
  if (parked.copy.size() > 0) copy(both_.data(), parked.copy.data(), both_.size(), stream);
}

}  // namespace contorno
