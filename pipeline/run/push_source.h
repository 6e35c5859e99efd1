// A source of images that the host program pushes, one frame at a time (at present only the Python package
// does). One thread pushes; the runner's reader takes. The images stay the pusher's; the reader copies them
// to a slot.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipeline/graph/source.h"

namespace contorno {

/// The pusher calls `offer` with a frame, then `wait` until it is Taken: copied to a slot. Frames are
/// numbered from 0.
class PushSource final : public Source {
 public:
  explicit PushSource(const StreamFormat& format) : format_(format) {}

  /// A null view for `frame` or `maps` when the stream has none. The memory must stay until `wait` returns
  /// Taken or Ended, or `withdraw` has returned, which waits for a copy under way. Does nothing after the
  /// end.
  void offer(const ImageView& frame, const ImageView& maps);
  /// Taken; Waiting after `milliseconds` without an answer; Ended after finish() or cancel().
  enum class Answer : std::uint8_t { Taken, Waiting, Ended };
  Answer wait(int milliseconds);
  void withdraw();
  /// No more frames; one that was offered and not taken is dropped.
  void finish();

  const StreamFormat& format() const override { return format_; }
  ReadResult read(FrameInput& input) override;
  void cancel() override;

 private:
  enum class State : std::uint8_t { Empty, Offered, Ended };

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::Empty;
  ImageView frame_, maps_;
  StreamFormat format_;
  std::uint64_t count_ = 0;
};

/// StreamFormat of pushed images; a null view for what is not there.
StreamFormat pushed_format(const ImageView& frame, const ImageView& maps);

/// The declaration of `source: {type: push}`. Making it throws Error(BadConfig): the host makes a PushSource
/// when it knows the first frame's format.
const SourceType& push_source();

}  // namespace contorno
