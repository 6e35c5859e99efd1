#include "plugins/gst/element/frame_queue.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace contorno::gst {
namespace {

void let_go(PassingFrame& frame) {
  if (frame.buffer != nullptr) gst_buffer_unref(frame.buffer);
  if (frame.maps) gst_buffer_unref(frame.maps->buffer);
  frame = PassingFrame();
}

}  // namespace

FrameQueue::~FrameQueue() {
  for (std::size_t place = 0; place < count_; ++place) let_go(at(place));
}

void FrameQueue::set_room(std::size_t frames) {
  const std::lock_guard lock(mutex_);
  room_for_ = std::clamp(frames, std::size_t{1}, kMost);
  room_.notify_all();
}

void FrameQueue::set_flushing(bool flushing) {
  const std::lock_guard lock(mutex_);
  flushing_ = flushing;
  if (flushing)
    discard_all();
  else
    flow_ = GST_FLOW_OK;
  room_.notify_all();
  first_.notify_all();
}

GstFlowReturn FrameQueue::flow() const {
  const std::lock_guard lock(mutex_);
  return flushing_ ? GST_FLOW_FLUSHING : flow_;
}

void FrameQueue::refuse(GstFlowReturn why) {
  const std::lock_guard lock(mutex_);
  if (flow_ == GST_FLOW_OK) flow_ = why;
  discard_all();
  room_.notify_all();
  first_.notify_all();
}

/// Discards all frames. One under way stays until its work is done, the first one while it is handed out.
void FrameQueue::discard_all() {
  for (std::size_t place = leaving_ ? 1 : 0; place < count_; ++place) {
    PassingFrame& frame = at(place);
    frame.discarded = true;
    if (frame.state == PassingFrame::State::Waiting) frame.state = PassingFrame::State::Done;
  }
  remove_discarded();
}

void FrameQueue::remove_discarded() {
  while (!leaving_ && count_ > 0 && at(0).discarded && at(0).state == PassingFrame::State::Done) {
    accounts_.add(Accounts::Count::Dropped);
    gap_ = true;
    pop();
  }
}

void FrameQueue::pop() {
  let_go(at(0));
  begin_ = (begin_ + 1) % kMost;
  --count_;
  room_.notify_all();
  first_.notify_all();
}

GstFlowReturn FrameQueue::enter(PassingFrame&& frame) {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return flushing_ || flow_ != GST_FLOW_OK || count_ < room_for_; });
  // A run that broke reads no more.
  if (frame.state == PassingFrame::State::Waiting && !reading_ && flow_ == GST_FLOW_OK) {
    flow_ = GST_FLOW_ERROR;
    first_.notify_all();
  }
  if (flushing_ || flow_ != GST_FLOW_OK) {
    accounts_.add(Accounts::Count::Dropped);
    let_go(frame);
    return flushing_ ? GST_FLOW_FLUSHING : flow_;
  }
  at(count_++) = std::move(frame);
  frame = PassingFrame();
  waiting_.notify_one();
  first_.notify_all();
  return GST_FLOW_OK;
}

void FrameQueue::settle() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] {
    for (std::size_t place = 0; place < count_; ++place)
      if (at(place).state != PassingFrame::State::Done) return false;
    return true;
  });
}

void FrameQueue::drain() {
  std::unique_lock lock(mutex_);
  room_.wait(lock, [&] { return flushing_ || count_ == 0; });
}

PassingFrame* FrameQueue::take_waiting() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!reading_) return nullptr;
    for (std::size_t place = 0; place < count_; ++place)
      if (at(place).state == PassingFrame::State::Waiting) {
        at(place).state = PassingFrame::State::UnderWay;
        return &at(place);
      }
    waiting_.wait(lock);
  }
}

void FrameQueue::start_reading() {
  const std::lock_guard lock(mutex_);
  reading_ = true;
}

void FrameQueue::stop_reading() {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  waiting_.notify_all();
}

void FrameQueue::begin(PassingFrame& frame, std::uint64_t run_number, int results) {
  const std::lock_guard lock(mutex_);
  frame.run_number = run_number;
  frame.results = results;
}

PassingFrame& FrameQueue::of_run(std::uint64_t run_number) {
  const std::lock_guard lock(mutex_);
  for (std::size_t place = 0; place < count_; ++place) {
    PassingFrame& frame = at(place);
    if (frame.state == PassingFrame::State::UnderWay && frame.results > 0 && frame.run_number == run_number)
      return frame;
  }
  throw InternalError("a result of a frame that is not under way");
}

void FrameQueue::fail(PassingFrame& frame, std::string reason) {
  const std::lock_guard lock(mutex_);
  if (frame.failure.empty()) frame.failure = std::move(reason);
}

bool FrameQueue::has_result(PassingFrame& frame) {
  const std::lock_guard lock(mutex_);
  return --frame.results == 0;
}

void FrameQueue::finish(PassingFrame& frame) {
  const std::lock_guard lock(mutex_);
  frame.state = PassingFrame::State::Done;
  remove_discarded();
  room_.notify_all();
  first_.notify_all();
}

void FrameQueue::drop(PassingFrame& frame) {
  {
    const std::lock_guard lock(mutex_);
    frame.discarded = true;
  }
  finish(frame);
}

void FrameQueue::abandon() {
  const std::lock_guard lock(mutex_);
  reading_ = false;
  for (std::size_t place = 0; place < count_; ++place) {
    PassingFrame& frame = at(place);
    if (frame.state == PassingFrame::State::Done) continue;
    frame.state = PassingFrame::State::Done;
    frame.discarded = true;
  }
  remove_discarded();
  room_.notify_all();
  first_.notify_all();
}

PassingFrame* FrameQueue::take_first() {
  std::unique_lock lock(mutex_);
  const auto is_done = [&] { return count_ > 0 && at(0).state == PassingFrame::State::Done; };
  first_.wait(lock, [&] { return flushing_ || is_done() || (flow_ != GST_FLOW_OK && count_ == 0); });
  if (flushing_ || !is_done()) return nullptr;
  leaving_ = true;
  at(0).after_gap = at(0).after_gap || std::exchange(gap_, false);
  return &at(0);
}

void FrameQueue::left(GstFlowReturn flow) {
  const std::lock_guard lock(mutex_);
  leaving_ = false;
  pop();
  if (flow != GST_FLOW_OK && flow_ == GST_FLOW_OK && !flushing_) {
    flow_ = flow;
    discard_all();
    return;
  }
  remove_discarded();
}

}  // namespace contorno::gst
