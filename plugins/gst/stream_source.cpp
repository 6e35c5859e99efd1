#include "plugins/gst/stream_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <random>
#include <utility>

#include "plugins/files/video/damage.h"
#include "plugins/gst/decoder_guard.h"
#include "plugins/gst/missing.h"

namespace contorno::gst {
namespace {

constexpr double kNanoseconds = 1e9;
constexpr std::int64_t kUnknownStep = 40'000'000;  // ns between frames when neither pts nor rate are known
constexpr int kLongestBackOff = 30;                // s

/// When the frame is to be shown, counted from the beginning of the stream: a container may let its times
/// begin later (with B-frames the first picture shown is not the first one stored) and say so in its segment.
GstClockTime time_of(GstSample* sample) {
  const GstClockTime pts = GST_BUFFER_PTS(gst_sample_get_buffer(sample));
  const GstSegment* segment = gst_sample_get_segment(sample);
  if (!GST_CLOCK_TIME_IS_VALID(pts) || segment->format != GST_FORMAT_TIME) return pts;
  const GstClockTime time = gst_segment_to_stream_time(segment, GST_FORMAT_TIME, pts);
  return GST_CLOCK_TIME_IS_VALID(time) ? time : pts;
}

}  // namespace

StreamSource::StreamSource(StreamPlan plan)
    : plan_(std::move(plan)), facts_(plan_.file.empty() ? ContainerFacts{} : container_facts(plan_.file)) {
  if (facts_.kind == ContainerKind::Gif) plan_.frame_count = facts_.frames;
  FramePipeline::Pulled first = open(plan_.playback.start);
  switch (first.result) {
    case FramePipeline::Pull::Frame:
      break;
    case FramePipeline::Pull::Failed:
      // A demuxer (flvdemux) ends with this error where it has no name for the codec.
      if (!plan_.file.empty() && first.error.find("Internal data stream error") != std::string::npos)
        first.error += fmt::format("; no frame could be decoded; {}", kFfmpegMayRead);
      throw Error(first.code, first.error);
    case FramePipeline::Pull::TimedOut:
      throw Error(ExitCode::BadData, timeout_sentence());
    case FramePipeline::Pull::End:
    case FramePipeline::Pull::Cancelled:
      throw Error(ExitCode::BadData, plan_.playback.start > 0
                                         ? fmt::format("{}: it has no more than the {} frames that "
                                                       "'start' leaves out",
                                                       plan_.subject, plan_.playback.start)
                                         : fmt::format("{}: there is no picture in it", plan_.subject));
  }
  sample_ = std::move(first.sample);
  describe_stream();
}

FramePipeline::Pulled StreamSource::open(std::int64_t left_out) {
  pipeline_.reset();  // a camera opens only once
  pipeline_ = std::make_unique<FramePipeline>(deep_codec_);
  audit_ = std::make_unique<DecodingAudit>();
  audit_->watch(*pipeline_);
  prefer_libav_decoders(pipeline_->pipeline());
  if (!facts_.palette.empty()) give_palette(pipeline_->pipeline(), facts_.palette);
  came_ = hidden_ = 0;
  try {
    plan_.build(*pipeline_);
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {  // as what fails later: a device that is away may come back
    return {.result = FramePipeline::Pull::Failed, .error = error.what(), .code = error.code()};
  }
  // The demuxer knows the seven other poses.
  if (facts_.transversed) pipeline_->set_direction(GST_VIDEO_ORIENTATION_UR_LL);
  pipeline_->play();
  FramePipeline::Pulled first = pull(left_out);
  if (first.result != FramePipeline::Pull::Failed || plan_.file.empty()) return first;
  deep_codec_ = pipeline_->deep_codec();
  if (deep_codec_.empty()) return first;
  FramePipeline::Pulled second = open(left_out);
  if (second.result == FramePipeline::Pull::Frame) return second;
  deep_codec_.clear();
  return first;
}

FramePipeline::Pulled StreamSource::pull(std::int64_t left_out) {
  for (;; --left_out) {
    // GStreamer does not end a GIF by itself.
    if (facts_.kind == ContainerKind::Gif && came_ == facts_.frames)
      return {.result = FramePipeline::Pull::End};
    FramePipeline::Pulled pulled = pipeline_->pull(plan_.timeout_ms, pacer_.cancelled(), plan_.subject);
    if (pulled.result == FramePipeline::Pull::Frame && !note_frame(pulled.sample.get())) {
      ++left_out;
      continue;
    }
    if (left_out <= 0 || pulled.result != FramePipeline::Pull::Frame) return pulled;
  }
}

/// False: the frame is not to be seen.
bool StreamSource::note_frame(GstSample* sample) {
  const auto time = static_cast<std::int64_t>(time_of(sample)),
             pts = static_cast<std::int64_t>(GST_BUFFER_PTS(gst_sample_get_buffer(sample)));
  if (facts_.shown && (pts < facts_.shown->begin_ns || pts >= facts_.shown->end_ns)) {
    ++hidden_;
    return false;
  }
  if (came_ == 0) lead_ns_ = pts >= 0 ? pts - time : 0;
  // The demuxer of Matroska thinks better of where the stream begins when the sound begins before the
  // pictures.
  const bool keeps_lead = facts_.kind == ContainerKind::Matroska && pts >= lead_ns_;
  last_came_ns_ = keeps_lead ? pts - lead_ns_ : time;
  if (facts_.shown) last_came_ns_ = pts - facts_.shown->begin_ns + facts_.shown->delay_ns;
  // GStreamer makes the times of a GIF up.
  if (facts_.kind == ContainerKind::Gif && came_ < facts_.frames)
    last_came_ns_ = facts_.times_ns[static_cast<std::size_t>(came_)];
  ++came_;
  return true;
}

/// Sets the rate to that of the caps; for a GIF, whose frames have lengths of their own, to the mean.
void StreamSource::set_rate() {
  GstVideoInfo info;
  gst_video_info_from_caps(&info, gst_sample_get_caps(sample_.get()));
  format_.rate_numerator = GST_VIDEO_INFO_FPS_N(&info);
  format_.rate_denominator = std::max(1, GST_VIDEO_INFO_FPS_D(&info));
  if (facts_.kind != ContainerKind::Gif || facts_.frames <= 0) return;
  constexpr std::int64_t kMilliseconds = 1'000'000, kMost = std::numeric_limits<int>::max();
  std::int64_t frames = facts_.frames * 1000, length = facts_.times_ns.back() / kMilliseconds;
  const std::int64_t common = std::gcd(frames, length);
  frames /= common, length /= common;
  if (frames > kMost || length > kMost) return;
  format_.rate_numerator = static_cast<int>(frames);
  format_.rate_denominator = static_cast<int>(length);
}

/// Notes the shape of the pixels (width to height). False: it is that of the pixels before.
bool StreamSource::note_pixels() {
  GstVideoInfo info;
  gst_video_info_from_caps(&info, gst_sample_get_caps(sample_.get()));
  const int width = std::max(1, GST_VIDEO_INFO_PAR_N(&info)),
            height = std::max(1, GST_VIDEO_INFO_PAR_D(&info));
  if (width == format_.pixel_width && height == format_.pixel_height) return false;
  format_.pixel_width = width, format_.pixel_height = height;
  if (width != height)
    remark_ = fmt::format("{}: its pixels are not square ({}:{}); lengths and areas take them as squares",
                          plan_.subject, width, height);
  return true;
}

void StreamSource::note_peculiarities() {
  peculiar_ = has_fields(sample_.get()) ? ", interlaced" : "";
  if (format_.pixel_width != format_.pixel_height)
    peculiar_ += fmt::format(", pixels not square ({}:{})", format_.pixel_width, format_.pixel_height);
}

void StreamSource::describe_stream() {
  const ImageFormat frame = format_of(sample_.get());
  format_.frame = frame;
  set_rate();
  note_pixels();
  note_peculiarities();
  format_.live = pipeline_->is_live();
  paced_ = plan_.playback.live && !format_.live;
  const double rate = static_cast<double>(format_.rate_numerator) / format_.rate_denominator;
  std::int64_t count = plan_.frame_count;
  duration_ns_ = format_.live ? -1 : pipeline_->duration_ns();
  recorded_rate_ = rate;
  if (count < 0) count = announced();
  if (count >= 0) count = plan_.playback.count(count);
  if (plan_.loop) count = -1;
  if (plan_.limit > 0) count = count < 0 ? (plan_.loop ? plan_.limit : -1) : std::min(count, plan_.limit);
  format_.frame_count = count;
  plan_.playback.set_rate(format_);
  describe();
}

void StreamSource::describe() {
  format_.description =
      fmt::format("{}, {}x{}, {}{}{}", plan_.description, format_.frame->width, format_.frame->height,
                  recorded_rate_ > 0 ? fmt::format("{:.4g} frames/s", recorded_rate_) : "unknown rate",
                  peculiar_, format_.live ? ", live" : "");
  if (reconnects_ > 0)
    format_.description += fmt::format(", reconnected {} time{}", reconnects_, reconnects_ == 1 ? "" : "s");
}

ReadResult StreamSource::read(FrameInput& input) {
  if (pacer_.cancelled() || ended_ || (plan_.limit > 0 && delivered_ >= plan_.limit)) return ReadResult::End;
  if (!sample_) {
    if (advance() == Next::End) {
      ended_ = true;
      return ReadResult::End;
    }
  }
  const ImageFormat frame = format_of(sample_.get());
  if (note_pixels() || frame != *format_.frame) {
    format_.frame = frame;
    note_peculiarities();
    describe();
    return ReadResult::FormatChanged;
  }
  const Owned<GstSample> sample = std::move(sample_);
  const std::int64_t pts = next_pts();
  if (paced_ && !pacer_.wait_for(pts)) return ReadResult::End;
  ++delivered_;
  input.info.pts_ns = pts;
  input.info.name.clear();
  input.warning = std::exchange(remark_, {});
  const GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  if (GST_BUFFER_FLAG_IS_SET(buffer, DecodingAudit::kStrayFlag) && strays_++ == 0)
    stray_ = audit_->said(PictureComplaint::Kind::Stray);
  if (GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_CORRUPTED)) {
    if (damaged_++ == 0) damage_ = audit_->said(PictureComplaint::Kind::Damage);
    input.warning = fmt::format("{}: the decoder says that the frame is damaged", plan_.subject);
  }
  if (copy_frame(sample.get(), input.frame)) return ReadResult::Frame;
  input.error = fmt::format("{}: {}", plan_.subject, too_few_bytes(sample.get()));
  return ReadResult::Bad;
}

StreamSource::Next StreamSource::advance() {
  using Pull = FramePipeline::Pull;
  FramePipeline::Pulled pulled = pull(plan_.playback.every - 1);
  if (pulled.result == Pull::End) judge_round("");
  if (pulled.result == Pull::End && plan_.loop) {
    round_offset_ns_ = last_pts_ns_ + step_ns();
    pulled = open(plan_.playback.start);
  }
  if (pulled.result == Pull::Frame) {
    sample_ = std::move(pulled.sample);
    return Next::Frame;
  }
  if (pulled.result == Pull::Cancelled) return Next::End;
  const std::string reason = pulled.result == Pull::Failed     ? pulled.error
                             : pulled.result == Pull::TimedOut ? timeout_sentence()
                                                               : "";
  if (reconnect(reason.empty() ? fmt::format("{}: the stream ended", plan_.subject) : reason))
    return Next::Frame;
  if (!reason.empty()) judge_round(reason);
  return Next::End;
}

/// How many frames a round has by what the container says; -1: it does not say.
std::int64_t StreamSource::announced() const {
  if (facts_.kind == ContainerKind::Gif && facts_.cut_off)
    return -1;  // only those that are there are counted
  if (facts_.frames >= 0) return facts_.frames;
  // Containers that state no length are measured by their last page: that of a cut file is the cut one's.
  const bool measured =
      facts_.cut_off && (facts_.kind == ContainerKind::Ogg || facts_.kind == ContainerKind::TransportStream);
  if (measured || duration_ns_ <= 0 || recorded_rate_ <= 0) return -1;
  return static_cast<std::int64_t>(static_cast<double>(length_ns()) / kNanoseconds * recorded_rate_ + 0.5);
}

/// From the first picture to the end. Muxers of Matroska count the duration from time 0 or from there, and
/// the segments of a recorder begin anywhere.
std::int64_t StreamSource::length_ns() const {
  const bool from_zero = facts_.kind == ContainerKind::Matroska || plan_.file.empty();
  return from_zero && lead_ns_ > 0 && lead_ns_ < duration_ns_ ? duration_ns_ - lead_ns_ : duration_ns_;
}

/// Whether the last frame came well before the time at which the container says that the pictures end.
bool StreamSource::ends_early() const {
  if (recorded_rate_ <= 0 || last_came_ns_ < 0) return false;
  using enum ContainerKind;
  if (facts_.kind == Mp4 && facts_.frames >= 0 && came_ >= facts_.frames) return false;
  if (facts_.trimmed && facts_.frames >= 0) return false;  // missing frames are known by their number
  const bool states_duration = facts_.kind == Mp4 || facts_.kind == Matroska || facts_.kind == Ogg;
  std::int64_t end = -1;
  // The last frames of an AVI file may be empty; its structure tells, where the pictures were counted.
  if (facts_.kind == Avi && facts_.frames > 0 && audit_->pictures(*pipeline_) < 0)
    end = static_cast<std::int64_t>(static_cast<double>(facts_.frames) / recorded_rate_ * kNanoseconds);
  else if (states_duration && pipeline_->streams() == 1)
    end = length_ns();  // of all streams
  double slack = 2.5 / recorded_rate_;
  if (plan_.file.empty() && pipeline_->states_duration()) {
    // A pipe or an address, of which nothing but the head can be known. Sound may be longer than the
    // pictures.
    end = length_ns();
    if (pipeline_->streams() > 1) slack = std::max(slack, 1.0);
  }
  return last_came_ns_ + static_cast<std::int64_t>(slack * kNanoseconds) < end;
}

void StreamSource::judge_round(const std::string& error) {
  if (fault_ || pacer_.cancelled()) return;
  if (format_.live && !paced_) {  // nobody knows what such a stream should have had
    if (!error.empty()) fault_ = {.sentence = error, .missing = -1};
    return;
  }
  const std::int64_t counted = audit_->pictures(*pipeline_), pictures = counted < 0 ? -1 : counted - hidden_;
  // The file is looked at only here, when it has just been read. What is odd in an AVI file does not matter
  // where all its frames came.
  const bool in_doubt = facts_.kind != ContainerKind::Avi || came_ < facts_.frames;
  const std::string damage =
      facts_.cut_off || !in_doubt ? "" : container_damage(plan_.file, facts_.kind, pictures);
  const bool unfinished = facts_.cut_off || ends_early() || !error.empty() || !damage.empty();
  // An AVI file may announce frames that it leaves empty, as a repetition of the one before.
  const bool exact = facts_.kind == ContainerKind::Mp4;
  const std::int64_t expected =
      std::max({pictures, exact ? facts_.frames : -1, unfinished ? announced() : -1});
  const int said = pipeline_->complaints().count(), complaints = said + audit_->libav().count();
  if (!unfinished && complaints == 0 && came_ >= expected) return;
  SourceFault fault{.missing =
                        unfinished && announced() < 0 ? -1 : std::max<std::int64_t>(0, expected - came_)};
  fault.sentence = expected >= came_ && fault.missing >= 0
                       ? fmt::format("{}: {} of {} frames came", plan_.subject, came_, expected)
                       : fmt::format("{}: {} frames came", plan_.subject, came_);
  if (fault.missing < 0) fault.sentence += ", and nobody knows how many are missing";
  if (facts_.cut_off) fault.sentence += "; the file is cut off";
  if (!damage.empty()) fault.sentence += fmt::format("; {}", damage);
  if (ends_early() && !facts_.cut_off)
    fault.sentence +=
        plan_.file.empty() ? "; the stream broke off" : "; the others cannot be found in the file";
  if (came_ < pictures) fault.sentence += fmt::format("; {} could not be decoded", pictures - came_);
  if (complaints > 0)
    fault.sentence +=
        fmt::format("; {}", said > 0 ? pipeline_->complaints().first() : audit_->libav().first());
  if (!error.empty()) fault.sentence += fmt::format("; {}", error);
  fault_ = std::move(fault);
}

std::vector<SourceFault> StreamSource::faults() const {
  std::vector<SourceFault> all;
  if (fault_) all.push_back(*fault_);
  constexpr int kCommon = 4;  // what one picture in so many has is the way of their camera
  const std::int64_t damaged = damaged_ + (kCommon * strays_ <= delivered_ ? strays_ : 0);
  if (damaged > 0) {
    const std::string& first = damaged_ > 0 ? damage_ : stray_;
    all.push_back(
        {.sentence = fmt::format("{}: {} of the frames that came {} damaged{}{}", plan_.subject, damaged,
                                 damaged == 1 ? "is" : "are", first.empty() ? "" : "; ", first)});
  }
  return all;
}

bool StreamSource::reconnect(const std::string& reason) {
  const std::int64_t resumed_at = last_pts_ns_;
  const bool for_ever = plan_.reconnect_attempts == kReconnectForEver;
  for (int attempt = 0; for_ever || attempt < plan_.reconnect_attempts; ++attempt) {
    pipeline_.reset();
    if (!wait_before_attempt(attempt)) return false;
    FramePipeline::Pulled pulled = open(0);
    if (pulled.result == FramePipeline::Pull::Cancelled) return false;
    if (pulled.result != FramePipeline::Pull::Frame) continue;
    sample_ = std::move(pulled.sample);
    round_offset_ns_ = resumed_at + step_ns();  // the new connection counts from 0 again
    ++reconnects_;
    remark_ = fmt::format("{}; there again at attempt {}", reason, attempt + 1);
    describe();
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
  return pacer_.sleep(std::chrono::duration<double>(seconds * jitter(random)));
}

std::int64_t StreamSource::step_ns() const {
  return format_.rate_numerator > 0
             ? static_cast<std::int64_t>(GST_SECOND) * format_.rate_denominator / format_.rate_numerator
             : kUnknownStep;
}

/// Times of delivered frames grow always: where the stream gives none, or the same again, or an
/// earlier one, the frame comes one nominal step after the last.
std::int64_t StreamSource::next_pts() {
  constexpr std::int64_t kSane = std::int64_t{GST_SECOND} * 3600 * 24 * 365 * 100;
  const std::int64_t told =
      last_came_ns_ >= 0 && last_came_ns_ < kSane ? round_offset_ns_ + last_came_ns_ : -1;
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

}  // namespace contorno::gst
