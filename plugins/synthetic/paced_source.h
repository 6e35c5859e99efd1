// The base class of sources that make their own frames. It numbers them, gives them times at a constant rate,
// waits for these times if the source is live, ends after a count, and can be cancelled.
#pragma once

#include "plugins/shared/playback.h"

namespace contorno {

struct Pace {
  double rate = 30;         ///< frames a second
  std::int64_t frames = 0;  ///< 0 = endless
  bool live = false;
};

/// The part of a stream's format that follows from its pace.
inline StreamFormat paced_format(const Pace& pace) {
  StreamFormat format;
  set_decimal_rate(format, pace.rate);
  format.live = pace.live;
  if (pace.frames > 0) format.frame_count = pace.frames;
  return format;
}

class PacedSource : public Source {
 public:
  const StreamFormat& format() const override { return format_; }

  ReadResult read(FrameInput& input) override {
    if (pace_.frames > 0 && next_ >= static_cast<std::uint64_t>(pace_.frames)) return ReadResult::End;
    const std::int64_t pts = time_of_frame(next_, format_);
    // A source that is not live never waits, and would not notice otherwise that it was cancelled.
    if (pacer_.cancelled() || (format_.live && !pacer_.wait_for(pts))) return ReadResult::End;
    input.info.pts_ns = pts;
    input.info.name.clear();
    make(next_, input);
    ++next_;
    return ReadResult::Frame;
  }

  void cancel() override { pacer_.cancel(); }

 protected:
  explicit PacedSource(const Pace& pace) : format_(paced_format(pace)), pace_(pace) {}

  /// Writes frame `number`, from 0, and its maps, as far as the format has them, into `input`.
  virtual void make(std::uint64_t number, FrameInput& input) = 0;

  StreamFormat format_;

 private:
  const Pace pace_;
  std::uint64_t next_ = 0;
  Pacer pacer_;
};

}  // namespace contorno
