// What every GStreamer part shares: owning pointers, elements made with a helpful error, bus messages turned
// into sentences, and FramePipeline, a pipeline that ends in an appsink of RGBA frames. A FramePipeline
// belongs to one thread; its destructor stops it. Only plugins/gst_*.cpp include this.
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

#include "cuda/error.h"
#include "pipeline/image.h"

namespace contorno::gst {

struct Release {
  void operator()(GstSample* p) const { gst_sample_unref(p); }
  void operator()(GstBuffer* p) const { gst_buffer_unref(p); }
  void operator()(GstCaps* p) const { gst_caps_unref(p); }
  void operator()(GstMessage* p) const { gst_message_unref(p); }
  void operator()(GstEvent* p) const { gst_event_unref(p); }
  void operator()(GstQuery* p) const { gst_query_unref(p); }
  void operator()(GError* p) const { g_error_free(p); }
  void operator()(gchar* p) const { g_free(p); }
  template <class T>
  void operator()(T* object) const {
    gst_object_unref(object);
  }
};
template <class T>
using Owned = std::unique_ptr<T, Release>;

/// gst_init, once. Every entry point calls it. Throws Error(Unavailable) when GStreamer does not start.
void ensure_init();

/// The Debian package that brings `element`, or an empty view when it is not known.
std::string_view package_of(std::string_view element);
bool has_element(const char* name);
/// Throws Error(Unavailable) that names the element and its package, unless it is installed.
void require_element(const char* name);

/// A new element inside `bin`, which owns it. Throws Error(Unavailable) that names the element and its
/// package.
GstElement* make_element(GstBin* bin, const char* name);
/// Links in order; throws InternalError, because all our chains fit by construction.
void link(std::initializer_list<GstElement*> chain);

/// An error message of the bus as our error: "SUBJECT: sentence (reported by qtdemux)", with the exit code
/// that fits.
Error to_error(GstMessage* message, const std::string& subject);
/// The next error on the bus that is not a mere consequence of an earlier one, or null.
Owned<GstMessage> pop_error(GstBus* bus);

/// Caps of raw video; side 0 means any up to the limit.
Owned<GstCaps> raw_caps(const char* format, int width = 0, int height = 0, int rate_numerator = 0,
                        int rate_denominator = 1);
inline constexpr int kMaxVideoSide = 16384;

/// The format and caps name for U8 interleaved images of 1, 3 or 4 channels; throws Error(BadConfig)
/// otherwise.
const char* raw_format_of(const ImageFormat& format);

/// Where the RGBA frame in `sample` has its rows, and a copy of them into `target` of the same size. False
/// when the buffer is smaller than its caps say.
ImageFormat format_of(GstSample* sample);
bool copy_frame(GstSample* sample, const ImageView& target);

/// What decoders, demuxers and parsers found odd about a stream, but not so odd that they ended it. Written
/// by the threads of the pipeline.
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

/// Elements that end in RGBA frames.
class FramePipeline {
 public:
  FramePipeline();
  ~FramePipeline();
  FramePipeline(const FramePipeline&) = delete;
  FramePipeline& operator=(const FramePipeline&) = delete;

  GstElement* add(const char* element) { return make_element(GST_BIN(pipeline_.get()), element); }
  /// videoconvert, a filter for RGBA, appsink; returns the first, to link to.
  GstElement* add_frame_end();
  /// Connects a decodebin or uridecodebin, whose pads come later: its first video pad goes to `target`.
  void link_when_decoded(GstElement* decodebin, GstElement* target);

  enum class Pull : std::uint8_t { Frame, End, Failed, TimedOut, Cancelled };
  struct Pulled {
    Pull result = Pull::End;
    Owned<GstSample> sample;
    std::string error;  ///< with Failed
    ExitCode code = ExitCode::BadData;
  };
  void play();
  /// Waits for the next frame at most `timeout_ms` (0: for ever). `subject` begins the error sentences.
  Pulled pull(int timeout_ms, const std::atomic<bool>& cancelled, const std::string& subject);

  GstElement* pipeline() const { return pipeline_.get(); }
  bool is_live() const;
  std::int64_t duration_ns() const;  ///< -1: unknown
  int streams() const;               ///< how many the demuxer found, 0 without a demuxer
  const Complaints& complaints() const { return complaints_; }
  /// The decoder that the frames come from; null when there is none, as for raw video.
  Owned<GstElement> decoder() const;

 private:
  Owned<GstMessage> next_error();

  Complaints complaints_;  // outlives the elements that write into it
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  GstElement* appsink_ = nullptr;  // owned by pipeline_
  GstElement* convert_ = nullptr;  // likewise
  std::string missing_;            // the last decoder that was looked for in vain
};

}  // namespace contorno::gst
