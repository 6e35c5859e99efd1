#include "plugins/gst_stream_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>

namespace contorno::gst {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr std::int64_t kUnknownStep = 40'000'000;  // ns between frames when neither pts nor rate are known
constexpr int kLongestBackOff = 30;                // s

}  // namespace

StreamSource::StreamSource(StreamPlan plan) : plan_(std::move(plan)) {
  FramePipeline::Pulled first = open();
  switch (first.result) {
    case FramePipeline::Pull::Frame:
      break;
    case FramePipeline::Pull::Failed:
      throw Error(first.code, first.error);
    case FramePipeline::Pull::TimedOut:
      throw Error(ExitCode::BadData, timeout_sentence());
    case FramePipeline::Pull::End:
    case FramePipeline::Pull::Cancelled:
      throw Error(ExitCode::BadData, plan_.start > 0
                                         ? fmt::format("{}: it has no more than the {} frames that "
                                                       "'start' leaves out",
                                                       plan_.subject, plan_.start)
                                         : fmt::format("{}: there is no picture in it", plan_.subject));
  }
  sample_ = std::move(first.sample);
  describe_stream();
}

FramePipeline::Pulled StreamSource::open() {
  pipeline_.reset();  // a camera opens only once
  pipeline_ = std::make_unique<FramePipeline>();
  plan_.build(*pipeline_);
  pipeline_->play();
  for (std::int64_t skip = plan_.start;; --skip) {
    FramePipeline::Pulled pulled = pipeline_->pull(plan_.timeout_ms, cancelled_, plan_.subject);
    if (skip <= 0 || pulled.result != FramePipeline::Pull::Frame) return pulled;
  }
}

void StreamSource::describe_stream() {
  const ImageFormat frame = format_of(sample_.get());
  format_.frame = frame;
  GstVideoInfo info;
  gst_video_info_from_caps(&info, gst_sample_get_caps(sample_.get()));
  format_.rate_numerator = GST_VIDEO_INFO_FPS_N(&info);
  format_.rate_denominator = std::max(1, GST_VIDEO_INFO_FPS_D(&info));
  format_.live = pipeline_->is_live();
  const double rate = static_cast<double>(format_.rate_numerator) / format_.rate_denominator;
  std::int64_t count = plan_.frame_count;
  const std::int64_t duration = format_.live ? -1 : pipeline_->duration_ns();
  if (count < 0 && duration > 0 && rate > 0)
    count = static_cast<std::int64_t>(static_cast<double>(duration) / kNanoseconds * rate + 0.5);
  if (count >= 0) count = std::max<std::int64_t>(0, count - plan_.start);
  if (plan_.loop) count = -1;
  if (plan_.limit > 0) count = count < 0 ? (plan_.loop ? plan_.limit : -1) : std::min(count, plan_.limit);
  format_.frame_count = count;
  format_.description =
      fmt::format("{}, {}x{}, {}{}", plan_.description, frame.width, frame.height,
                  rate > 0 ? fmt::format("{:.4g} frames/s", rate) : std::string("unknown rate"),
                  format_.live ? ", live" : "");
}

ReadResult StreamSource::read(FrameInput& input) {
  if (cancelled_ || ended_ || (plan_.limit > 0 && delivered_ >= plan_.limit)) return ReadResult::End;
  if (!sample_) {
    switch (advance(input.error)) {
      case Next::Frame:
        break;
      case Next::End:
        ended_ = true;
        return ReadResult::End;
      case Next::Bad:
        ended_ = true;
        return ReadResult::Bad;
    }
  }
  const ImageFormat frame = format_of(sample_.get());
  if (frame != *format_.frame) {
    format_.frame = frame;
    return ReadResult::FormatChanged;
  }
  const Owned<GstSample> sample = std::move(sample_);
  ++delivered_;
  input.info.pts_ns = pts_of(sample.get());
  input.info.name.clear();
  if (copy_frame(sample.get(), input.frame)) return ReadResult::Frame;
  input.error = fmt::format("{}: a frame's buffer is smaller than its format says", plan_.subject);
  return ReadResult::Bad;
}

StreamSource::Next StreamSource::advance(std::string& error) {
  FramePipeline::Pulled pulled = pipeline_->pull(plan_.timeout_ms, cancelled_, plan_.subject);
  if (pulled.result == FramePipeline::Pull::End && plan_.loop) {
    round_offset_ns_ = last_pts_ns_ + step_ns();
    pulled = open();
  }
  switch (pulled.result) {
    case FramePipeline::Pull::Frame:
      sample_ = std::move(pulled.sample);
      return Next::Frame;
    case FramePipeline::Pull::Cancelled:
      return Next::End;
    case FramePipeline::Pull::End:
      return reconnect() ? Next::Frame : Next::End;
    case FramePipeline::Pull::Failed:
      error = pulled.error;
      break;
    case FramePipeline::Pull::TimedOut:
      error = timeout_sentence();
      break;
  }
  if (reconnect()) return Next::Frame;
  return cancelled_ ? Next::End : Next::Bad;
}

bool StreamSource::reconnect() {
  const std::int64_t resumed_at = last_pts_ns_;
  for (int attempt = 0; attempt < plan_.reconnect_attempts; ++attempt) {
    pipeline_.reset();
    if (!wait_before_attempt(attempt)) return false;
    FramePipeline::Pulled pulled = open();
    if (pulled.result == FramePipeline::Pull::Cancelled) return false;
    if (pulled.result != FramePipeline::Pull::Frame) continue;
    sample_ = std::move(pulled.sample);
    round_offset_ns_ = resumed_at + kUnknownStep;  // the new connection counts from 0 again
    return true;
  }
  // Where nothing may be tried again the old pipeline stays, at its end.
  return false;
}

bool StreamSource::wait_before_attempt(int attempt) {
  static thread_local std::minstd_rand random{std::random_device{}()};
  const int seconds = attempt > 4 ? kLongestBackOff : std::min(kLongestBackOff, 1 << attempt);
  // Many readers that lost the same camera must not return at the same moment.
  std::uniform_real_distribution<double> jitter(0.8, 1.2);
  std::unique_lock lock(mutex_);
  return !wake_.wait_for(lock, std::chrono::duration<double>(seconds * jitter(random)),
                         [this] { return cancelled_.load(); });
}

std::int64_t StreamSource::step_ns() const {
  return format_.rate_numerator > 0
             ? static_cast<std::int64_t>(GST_SECOND) * format_.rate_denominator / format_.rate_numerator
             : kUnknownStep;
}

/// Times of delivered frames grow always: where the stream gives none, or the same again (GIF files do), or
/// an earlier one, the frame comes one nominal step after the last.
std::int64_t StreamSource::pts_of(GstSample* sample) {
  constexpr GstClockTime kSane = GST_SECOND * 3600 * 24 * 365 * 100;
  const GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
  const std::int64_t told =
      GST_CLOCK_TIME_IS_VALID(pts) && pts < kSane ? round_offset_ns_ + static_cast<std::int64_t>(pts) : -1;
  if (told > last_pts_ns_)
    last_pts_ns_ = told;
  else
    last_pts_ns_ = last_pts_ns_ < 0 ? round_offset_ns_ : last_pts_ns_ + step_ns();
  return last_pts_ns_;
}

std::string StreamSource::timeout_sentence() const {
  return fmt::format("{}: no frame came within {} ms (parameter timeout; 0 waits for ever)", plan_.subject,
                     plan_.timeout_ms);
}

void StreamSource::cancel() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  wake_.notify_all();
}

}  // namespace contorno::gst
