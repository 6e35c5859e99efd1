// A video file that is being written: appsrc, videoconvert, encoder, muxer, fdsink. The encoder works in
// GStreamer's threads; frames come from a pool of a few buffers, and waiting for one of them is the flow
// control.
#pragma once

#include <cstdint>
#include <filesystem>

#include "pipeline/source.h"
#include "plugins/gst_codecs.h"
#include "plugins/output_file.h"

namespace contorno::gst {

/// One file that is being written. Made and used by one thread.
class Recording {
 public:
  /// Opens the file and starts the encoder. Throws Error(Unavailable) without it, Error(CannotCreate),
  /// Error(OutOfMemory).
  Recording(std::filesystem::path path, Codec codec, const Container& container, int quality,
            const ImageFormat& format, const StreamFormat& stream);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Copies the picture, which has the format given at the start. Waits while the encoder has all buffers.
  /// Throws Error(Io) with the encoder's reason; what was written is kept under another name then.
  void write(std::int64_t pts_ns, const ImageView& image);
  /// Waits for the encoder and gives the file its name. Throws as `write`.
  void finish();
  std::uint64_t frames() const { return frames_; }
  /// Timestamps that went back or jumped and were replaced by one frame's duration.
  std::uint64_t clamped() const { return clamped_; }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer self);
  void build(Codec codec, const Container& container, int quality);
  void make_pool(GstCaps* caps);
  GstClockTime next_pts(std::int64_t pts_ns);
  [[noreturn]] void fail();

  ImageFormat format_;
  int rate_numerator_, rate_denominator_;
  std::int64_t step_ns_;
  GstVideoInfo info_{};
  OutputFile file_;
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  Owned<GstBufferPool> pool_;
  GstElement* appsrc_ = nullptr;  // owned by pipeline_
  std::uint64_t frames_ = 0, clamped_ = 0;
  std::int64_t last_source_pts_ = 0, last_pts_ = 0;
};

}  // namespace contorno::gst
