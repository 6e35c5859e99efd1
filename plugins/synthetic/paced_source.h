// What sources that make their own frames have in common: numbered frames at a rate, as fast as they are
// taken or, live, at their times; a count after which they end; cancelling.
#pragma once

#include "plugins/shared/playback.h"

namespace contorno {

struct Pace {
  double rate = 30;         ///< frames a second
  std::int64_t frames = 0;  ///< 0 = endless
  bool live = false;
};

/// What the pace alone says of a stream.
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
    // Whether or not the frame before was waited for.
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

  /// Fills frame and maps of frame `number`.
  virtual void make(std::uint64_t number, FrameInput& input) = 0;

  StreamFormat format_;

 private:
  const Pace pace_;
  std::uint64_t next_ = 0;
  Pacer pacer_;
};

}  // namespace contorno
