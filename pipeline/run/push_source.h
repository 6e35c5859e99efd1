// A source of images that the host program pushes, one frame at a time: Python today. One thread pushes; the
// runner's reader takes. The images stay the pusher's; the reader copies them to a slot.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "pipeline/graph/source.h"

namespace contorno {

/// Images that somebody pushes: offered, and then waited for, until they have been copied to a slot.
class PushSource final : public Source {
 public:
  explicit PushSource(const StreamFormat& format) : format_(format) {}

  /// Null views for what is not there. The memory must stay until `wait` says that it was taken, or
  /// `withdraw`.
  void offer(const ImageView& frame, const ImageView& maps);
  enum class Answer : std::uint8_t { Taken, Waiting, Ended };
  Answer wait(int milliseconds);
  void withdraw();
  /// No more frames.
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
