#include "tools/latency/timed_source.h"

#include <fmt/format.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/error.h"
#include "pipeline/shared/clock.h"
#include "tools/checksum.h"

namespace contorno::latency {

HeldFrames::HeldFrames(Source& source, std::size_t most, std::size_t most_bytes) : format_(source.format()) {
  const std::size_t frame_bytes = align_up(packed_bytes(format_.frame.value_or(ImageFormat{})));
  const std::size_t bytes = frame_bytes + packed_bytes(format_.maps.value_or(ImageFormat{}));
  const std::size_t fitting = std::max<std::size_t>(1, most_bytes / std::max<std::size_t>(bytes, 1));
  while (frames_.size() < std::min(most, fitting)) {
    Frame frame;
    frame.memory = Block(bytes, MemoryKind::Host);
    if (format_.frame) frame.input.frame = packed_view(frame.memory.data(), *format_.frame);
    if (format_.maps) frame.input.maps = packed_view(frame.memory.data() + frame_bytes, *format_.maps);
    frame.result = source.read(frame.input);
    if (frame.result == ReadResult::End) break;
    if (frame.result == ReadResult::FormatChanged) {
      // Before the first frame this is how a source tells its true format.
      if (!frames_.empty()) break;
      *this = HeldFrames(source, most, most_bytes);
      return;
    }
    frames_.push_back(std::move(frame));
  }
  if (frames_.empty()) throw Error(ExitCode::BadData, "the source has no frame to measure with");
}

std::uint32_t HeldFrames::checksum() const {
  std::uint32_t sum = 0;
  for (const Frame& frame : frames_)
    for (const ImageView& image : {frame.input.frame, frame.input.maps})
      if (image.data != nullptr) sum = contorno::checksum(image, sum);
  return sum;
}

ReadResult HeldFrames::copy(std::size_t index, FrameInput& to) const {
  const Frame& from = frames_[index];
  const auto copy = [](const ImageView& image, const ImageView& slot) {
    if (image.data != nullptr) std::memcpy(slot.data, image.data, packed_bytes(image.format));
  };
  copy(from.input.frame, to.frame);
  copy(from.input.maps, to.maps);
  to.info.name = from.input.info.name;
  to.info.picture = from.input.info.picture;
  to.error = from.input.error;
  to.warning = from.input.warning;
  return from.result;
}

TimedSource::TimedSource(const HeldFrames* held, Source* source, const Delivery& delivery,
                         FrameRecords& records)
    : held_(held), source_(source), delivery_(delivery), records_(records) {
  take_format();
}

void TimedSource::take_format() {
  format_ = held_ != nullptr ? held_->format() : source_->format();
  // In an open loop the source is live, as a camera: it does not wait for the pipeline.
  format_.live = !closed_loop();
  format_.frame_count = -1;
  if (delivery_.rate > 0) set_decimal_rate(format_, delivery_.rate);
}

void TimedSource::start(std::int64_t start_ns, std::function<FrameCounts()> progress) {
  start_ns_ = start_ns;
  progress_ = std::move(progress);
}

ReadResult TimedSource::read(FrameInput& input) {
  // The kernel may otherwise wake the thread 50 us late, to save power.
  if (next_ == 0) prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  if (next_ == records_.size() || pacer_.cancelled()) return ReadResult::End;
  if (closed_loop() && !wait_for_idle()) return ReadResult::End;
  if (delivery_.allocations != nullptr) count_allocations();
  const ReadResult result =
      held_ != nullptr ? held_->copy(next_ % held_->size(), input) : source_->read(input);
  if (result == ReadResult::FormatChanged) take_format();
  if (result == ReadResult::End || result == ReadResult::FormatChanged) return result;
  const std::int64_t due = next_due();
  if (!pacer_.wait_until(due)) return ReadResult::End;
  if (closed_loop() && is_over(due)) return ReadResult::End;
  input.info.pts_ns = due - start_ns_;
  records_.time(next_, Columns::kDue) = last_due_ns_ = due;
  records_.outcome(next_) = Outcome::UnderWay;
  ++next_;
  return result;
}

/// Whether a closed loop is over: no frame that is due then belongs to it. On a slow machine the frames of
/// the warm-up alone may take longer than the measurement was to be.
bool TimedSource::is_over(std::int64_t due_ns) {
  if (delivery_.duration_ns == 0) return false;
  const bool is_warm = next_ >= delivery_.first_counted && due_ns - start_ns_ >= delivery_.warm_up_ns;
  if (is_warm && !counted_from_ns_) counted_from_ns_ = due_ns;
  return counted_from_ns_ && due_ns - *counted_from_ns_ > delivery_.duration_ns;
}

/// In a closed loop, waits until all that was delivered is done. False when cancelled.
bool TimedSource::wait_for_idle() {
  constexpr std::chrono::microseconds kPause(20);
  for (;;) {
    const FrameCounts frames = progress_();
    if (frames.delivered + frames.failed + frames.dropped() >= next_) return true;
    if (pacer_.cancelled()) return false;
    std::this_thread::sleep_for(kPause);
  }
}

/// No frame is under way when this is called, so that whole frames are counted.
void TimedSource::count_allocations() {
  if (next_ < delivery_.first_counted) return;
  const std::uint64_t now = delivery_.allocations();
  if (next_ == delivery_.first_counted) allocations_at_first_ = now;
  counted_ = {.frames = next_ - delivery_.first_counted, .count = now - allocations_at_first_};
}

std::int64_t TimedSource::next_due() {
  if (!closed_loop()) return start_ns_ + delivery_.schedule[next_];
  const std::int64_t earliest = next_ == 0 ? start_ns_ : last_due_ns_ + delivery_.interval_ns;
  return std::max(earliest, now_ns());
}

std::vector<SourceFault> TimedSource::faults() const {
  return held_ != nullptr ? std::vector<SourceFault>{} : source_->faults();
}

std::uint64_t TimedSource::reconnections() const {
  return held_ != nullptr ? 0 : source_->reconnections();
}

void TimedSource::cancel() {
  pacer_.cancel();
  if (source_ != nullptr) source_->cancel();
}

}  // namespace contorno::latency
