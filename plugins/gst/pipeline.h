// FramePipeline, a pipeline that ends in an appsink of frames, and what goes through every pipeline: caps,
// frames, and bus messages turned into sentences. A FramePipeline belongs to one thread; its destructor stops
// it. Only plugins/gst includes this.
#pragma once

#include <gst/app/app.h>
#include <gst/gst.h>
#include <gst/video/video.h>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "pipeline/value/image.h"
#include "plugins/gst/elements.h"
#include "plugins/media/params.h"

namespace contorno::gst {

/// An error message of the bus as contorno's error: "SUBJECT: sentence (reported by qtdemux)", with the exit
/// code that fits.
Error to_error(GstMessage* message, const std::string& subject);
/// Takes the next error message off the bus; null when there is none.
Owned<GstMessage> pop_error(GstBus* bus);

/// Caps of raw video. A side of 0 means any up to kMaxVideoSide, a rate of 0 any.
Owned<GstCaps> raw_caps(const char* format, int width = 0, int height = 0, int rate_numerator = 0,
                        int rate_denominator = 1);
/// The caps' name of the format of a U8 interleaved image with 1, 3 or 4 channels: "GRAY8", "RGB" or "RGBA".
/// Throws Error(BadConfig) for other images.
const char* raw_format_of(const ImageFormat& format);

/// The format that the frame in `sample` gets by copy_frame: its size, with 4 interleaved channels of U8.
ImageFormat format_of(GstSample* sample);
/// Whether that frame has two fields, one taken after the other.
bool has_fields(GstSample* sample);
/// Copies that frame, RGBA, grey or progressive I420, into `target` of the same size as RGBA; the two fields
/// of an interlaced one become one picture. False when the buffer is smaller than its caps say.
bool copy_frame(GstSample* sample, const ImageView& target);
/// Why copy_frame did not read a sample: how many bytes it has, and how many a picture of its format takes.
std::string too_few_bytes(GstSample* sample);

/// The warnings of the elements that a stream goes through. Any thread may add and read them.
class Complaints {
 public:
  void add(GstMessage* warning);
  /// How many there were, and the first of them: "could not decode (reported by avdec_h264)".
  int count() const;
  std::string first() const;

 private:
  mutable std::mutex mutex_;
  int count_ = 0;
  std::string first_;
};

/// A pipeline whose frames are pulled one by one, upright, for copy_frame. Add the elements, then play(),
/// then pull().
class FramePipeline {
 public:
  /// Where `deep_codec` is libav's name of a decoder, its pictures are decoded by the module deep.
  explicit FramePipeline(std::string deep_codec = {});
  ~FramePipeline();
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  GstElement* add(const char* element) { return make_element(GST_BIN(pipeline_.get()), element); }
  /// Adds videoconvert, a filter for what copy_frame takes, videoflip and the appsink, behind the module
  /// deep's decoder where that decodes; returns the first, to link to.
  GstElement* add_frame_end();
  /// Adds a decodebin behind `source`, which passes raw pictures, and the frame end behind that; returns the
  /// decodebin.
  GstElement* decode_behind(GstElement* source);
  /// Connects a decodebin or uridecodebin, whose pads come later: its first video pad goes to `target`.
  void link_when_decoded(GstElement* decodebin, GstElement* target);

  enum class Pull : std::uint8_t { Frame, End, Failed, TimedOut, Cancelled };
  struct Pulled {
    Pull result = Pull::End;
    Owned<GstSample> sample;
    std::string error;                  ///< why it failed; with Failed
    ExitCode code = ExitCode::BadData;  ///< exit code of the failure; with Failed
  };
  /// Opens the devices of the elements that were added so far; play() does it where this was not called.
  /// Throws Error that says why an element could not, `subject` first.
  void make_ready(const std::string& subject);
  void play();
  /// Waits for the next frame at most `timeout_ms` (0: for ever). `subject` begins the error sentences.
  Pulled pull(int timeout_ms, const std::atomic<bool>& cancelled, const std::string& subject);

  GstElement* pipeline() const { return pipeline_.get(); }
  /// Turns the frames so, whatever the stream says. Called after add_frame_end.
  void set_direction(GstVideoOrientationMethod direction);
  bool is_live() const;              ///< frames come at their own pace, as from a camera
  std::int64_t duration_ns() const;  ///< -1: unknown
  int streams() const;               ///< how many the demuxer found, 0 without a demuxer
  /// Whether the demuxer reads the duration from the beginning of the container, so that it is known also of
  /// a stream that breaks off.
  bool states_duration() const;
  const Complaints& complaints() const { return complaints_; }
  /// libav's name of the decoder that gave nothing, perhaps because GStreamer has no name for its samples,
  /// where the module deep can be tried in its place; else empty.
  std::string deep_codec() const;
  /// The decoder that the frames come from; null when there is none, as for raw video.
  Owned<GstElement> decoder() const;

 private:
  Owned<GstMessage> next_error();

  const std::string deep_codec_;
  Complaints complaints_;  // outlives the elements that write into it
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  GstElement* appsink_ = nullptr;  // owned by pipeline_
  GstElement* convert_ = nullptr;  // likewise
  GstElement* flip_ = nullptr;     // likewise
  std::string missing_;            // the last decoder that was looked for in vain
  bool frames_came_ = false;
};

}  // namespace contorno::gst
