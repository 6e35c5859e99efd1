// A source of images that the host program pushes, one frame at a time (at present only the Python package
// does). One thread pushes; the runner's reader takes. The images stay the pusher's; the reader copies them
// to a slot. Maps on a device are copied within the device, never through the host
// (RunOptions::maps_on_device).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "cuda/stream.h"
#include "pipeline/graph/source.h"

namespace contorno {

/// Where pushed maps lie.
struct MapsPlace {
  bool on_device = false;
  void* stream =
      nullptr;  ///< on a device: they are complete when the work queued on this cudaStream_t is done
};

/// The pusher calls `offer` with a frame, then `wait` until it is Taken: copied to a slot. Frames are
/// numbered from 0.
class PushSource final : public Source {
 public:
  /// `maps_on_device`: as RunOptions::maps_on_device of the run.
  explicit PushSource(const StreamFormat& format, bool maps_on_device = false)
      : format_(format), maps_on_device_(maps_on_device) {}

  /// A null view for `frame` or `maps` where this source gives none. The memory must stay until `wait`
  /// returns Taken or Ended, or `withdraw` has returned, which waits for a copy under way. Does nothing after
  /// the end. Maps on a device need a run whose maps come there; those of the host are uploaded for such a
  /// run.
  void offer(const ImageView& frame, const ImageView& maps, const MapsPlace& place = {});
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

  void copy(const FrameInput& input);
  void copy_to_device(const ImageView& to);

  std::mutex mutex_;
  std::condition_variable changed_;
  State state_ = State::Empty;
  bool copying_ = false;  // without the mutex, so that `cancel` need not wait for the copy
  ImageView frame_, maps_;
  MapsPlace maps_place_;
  StreamFormat format_;
  bool maps_on_device_ = false;
  Stream uploads_;  // of maps of the host, made when the first come
  std::uint64_t count_ = 0;
};

/// StreamFormat of pushed images; a null view for what is not there.
StreamFormat pushed_format(const ImageView& frame, const ImageView& maps);

/// The declaration of `source: {type: push}`. Making it throws Error(BadConfig): the host makes a PushSource
/// when it knows the first frame's format.
const SourceType& push_source();

}  // namespace contorno
