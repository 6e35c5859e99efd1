#include "pipeline/run/push_source.h"

#include <chrono>
#include <exception>
#include <string>

#include "base/error.h"
#include "cuda/pointer.h"
#include "pipeline/graph/applied.h"
#include "pipeline/graph/graph.h"
#include "pipeline/value/image_rows.h"

namespace contorno {
namespace {

struct PushParams {};

}  // namespace

StreamFormat pushed_format(const ImageView& frame, const ImageView& maps) {
  StreamFormat format{.description = "pushed by the program"};
  if (frame.data != nullptr) format.frame = frame.format;
  if (maps.data != nullptr) format.maps = maps.format;
  return format;
}

void PushSource::offer(const ImageView& frame, const ImageView& maps, const MapsPlace& place) {
  if (place.on_device && !maps_on_device_)
    throw InternalError("maps on a device were pushed to a run that takes those of the host");
  const std::lock_guard lock(mutex_);
  if (state_ == State::Ended) return;
  frame_ = frame, maps_ = maps, maps_place_ = place;
  state_ = State::Offered;
  changed_.notify_all();
}

PushSource::Answer PushSource::wait(int milliseconds) {
  std::unique_lock lock(mutex_);
  const bool answered = changed_.wait_for(lock, std::chrono::milliseconds(milliseconds),
                                          [&] { return !copying_ && state_ != State::Offered; });
  if (!answered) return Answer::Waiting;
  switch (state_) {
    case State::Empty:
      return Answer::Taken;
    case State::Offered:
      return Answer::Waiting;
    case State::Ended:
      break;
  }
  return Answer::Ended;
}

void PushSource::withdraw() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !copying_; });
  if (state_ == State::Offered) state_ = State::Empty;
}

void PushSource::finish() {
  cancel();
}

void PushSource::cancel() {
  const std::lock_guard lock(mutex_);
  state_ = State::Ended;
  changed_.notify_all();
}

ReadResult PushSource::read(FrameInput& input) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return state_ != State::Empty; });
  if (state_ == State::Ended) return ReadResult::End;
  const StreamFormat format = pushed_format(frame_, maps_);
  if (!(format == format_)) {
    format_ = format;
    return ReadResult::FormatChanged;
  }
  copying_ = true;
  lock.unlock();
  std::exception_ptr failure;
  try {
    copy(input);
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  copying_ = false;
  if (state_ == State::Offered) state_ = State::Empty;
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
  input.info = {.pts_ns = 0, .name = std::to_string(count_++)};
  return ReadResult::Frame;
}

void PushSource::copy(const FrameInput& input) {
  if (frame_.data != nullptr) copy_image(frame_, input.frame);
  if (maps_.data == nullptr) return;
  if (maps_on_device_)
    copy_to_device(input.maps);
  else
    copy_image(maps_, input.maps);
}

/// Waits until the maps are there: the pusher may write its memory again, and the frame is launched.
void PushSource::copy_to_device(const ImageView& to) {
  if (!maps_place_.on_device && uploads_.get() == nullptr) uploads_ = Stream::create();
  void* const stream = maps_place_.on_device ? maps_place_.stream : uploads_.get();
  for (int plane = 0; plane < to.format.planes(); ++plane)
    copy_rows_async(rows_of(to, plane), rows_of(maps_, plane), to.format.row_bytes(),
                    static_cast<std::size_t>(to.format.height), stream);
  synchronize_stream(stream);
}

const SourceType& push_source() {
  static const SourceType type{.name = "push",
                               .summary = "Frames and maps that the program pushes.",
                               .params = declare(ParamList<PushParams>()),
                               .example = "source: {type: push}\n",
                               .make = [](const ParamSet&) -> std::unique_ptr<Source> {
                                 throw Error(ExitCode::BadConfig,
                                             "the graph's source is 'push': give it frames with push(), or "
                                             "an input");
                               }};
  return type;
}

}  // namespace contorno
