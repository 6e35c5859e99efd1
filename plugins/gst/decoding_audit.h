// Counts what goes into the video decoders of a pipeline, to compare it with the frames that come out: a
// decoder that cannot use a picture leaves it out and may say nothing. Reads JPEG pictures itself, because
// GStreamer's decoder paints over what is damaged and keeps libjpeg's complaints to itself, and the headers
// of VP8; frames of damaged pictures get a flag. Live streams of JPEG are left alone, for cameras have ways
// of their own and nobody can play their pictures again. The counts are written by the threads of the
// pipeline, so the audit has to outlive it.
#pragma once

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "plugins/files/pictures/picture.h"
#include "plugins/gst/libav_log.h"
#include "plugins/gst/pipeline.h"

namespace contorno::gst {

class DecodingAudit {
 public:
  /// Watches every video decoder that `pipeline` makes from now on.
  void watch(FramePipeline& pipeline);
  /// Encoded pictures that should have become frames of the one stream that `pipeline` decodes; -1: nobody
  /// can tell.
  std::int64_t pictures(const FramePipeline& pipeline) const;

  /// A frame's flag: its JPEG has bytes too many. That is damage unless many pictures of the stream have
  /// them.
  static constexpr guint kStrayFlag = GST_VIDEO_BUFFER_FLAG_LAST;
  /// What there is against the first damaged picture, or the first of strays: "Corrupt JPEG data: ...
  /// (reported by libjpeg)".
  std::string said(PictureComplaint::Kind kind) const;

  /// What libav said about the pictures, where it decodes.
  const LibavLog& libav() const { return libav_; }

 private:
  struct Count {
    const GstElement* decoder = nullptr;  // never dereferenced
    std::atomic<std::int64_t> pictures = 0;
    // Used by the streaming thread alone:
    GstClockTime first = GST_CLOCK_TIME_NONE;  // the presentation time of the first key frame
    GstClockTime before = GST_CLOCK_TIME_NONE;
    GstClockTime latest = GST_CLOCK_TIME_NONE;  // time of the last picture that went in
    GstClockTime given = GST_CLOCK_TIME_NONE;   // time of the last frame that came out
    std::atomic<bool> began = false, countable = true;
    DecodingAudit* audit = nullptr;
    std::optional<bool> reads_jpegs;  // decided by the first one
    PictureComplaint::Kind said =
        PictureComplaint::Kind::None;  // complaint about the picture inside the decoder
  };

  static void on_element(GstBin* pipeline, GstBin* bin, GstElement* element, gpointer audit);
  static GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  static GstPadProbeReturn on_jpeg(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  static GstPadProbeReturn on_vp8(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  static GstPadProbeReturn on_frame(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  static GstPadProbeReturn on_decoded(GstPad* pad, GstPadProbeInfo* info, gpointer count);
  static void read_pictures(GstElement* decoder, Count& count, GstPadProbeCallback reader);
  static void note(Count& count, PictureComplaint::Kind kind, const std::string& sentence);
  const Count* count_of(const FramePipeline& pipeline) const;

  mutable std::mutex mutex_;
  std::deque<Count> counts_;  // addresses stay
  std::string damage_, stray_;
  LibavLog libav_;
};

}  // namespace contorno::gst
