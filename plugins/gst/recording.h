// A video file that is being written: appsrc, videoconvert, encoder, muxer, fdsink. The encoder works in
// GStreamer's threads; pictures go to it in a few pooled buffers, in I420 where it takes nothing else, and
// write() waits for a free one when the encoder is behind. Times in the file begin at 0. In a container of
// constant rate a picture is repeated where the source has a gap, so that the video lasts as long as the
// source.
#pragma once

#include <cstdint>
#include <filesystem>

#include "pipeline/graph/source.h"
#include "plugins/files/shared/output_file.h"
#include "plugins/gst/codecs.h"
#include "plugins/gst/encoding_clock.h"

namespace contorno::gst {

/// One file that is being written. Made and used by one thread.
class Recording {
 public:
  /// Starts the encoder, which writes into `file`. Throws Error(Unavailable) without it, Error(OutOfMemory).
  Recording(OutputFile file, const Encoding& encoding, const Container& container, int quality,
            const ImageFormat& format, const StreamFormat& stream);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Copies the picture, which has the format given at the start. Waits while the encoder has all buffers, as
  /// long as the file's patience lasts. Throws Error(Io) with the encoder's reason and the name under which
  /// what was written is kept, Error(OutOfMemory).
  void write(std::int64_t pts_ns, const ImageView& image);
  /// Waits for the encoder (for a minute, or into a pipe as long as the patience lasts) and gives the file
  /// its name. Throws as `write`.
  void finish();
  std::uint64_t frames() const { return frames_; }
  /// How the file differs from the pictures and times that came: ", 2 timestamps corrected"; empty when it
  /// does not. Called after `finish`.
  std::string differences() const;
  /// Time from a picture's arrival at the encoder, videoconvert included, to its bytes, on average.
  /// Called after `finish`.
  double encoding_ms() const { return clock_.mean_ms(); }
  const std::filesystem::path& path() const { return file_.path(); }

 private:
  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer self);
  void build(const Encoding& encoding, const Container& container, int quality);
  void make_pool(GstCaps* caps);
  const char* buffer_format(GstElement* encoder) const;
  void copy_padded(const ImageView& image, std::uint8_t* target, std::ptrdiff_t pitch) const;
  GstClockTime next_pts(std::int64_t pts_ns);
  GstClockTime take_slot(GstClockTime time);
  Owned<GstBuffer> acquire();
  GstVideoFrame map(GstBuffer* buffer, GstMapFlags access) const;
  Owned<GstBuffer> copy_of_previous();
  void push(Owned<GstBuffer> buffer, GstClockTime time);
  [[noreturn]] void fail();

  ImageFormat format_;  ///< of the pictures that come; those in the file may have more columns and rows
  int width_, height_;  ///< sides of the pictures in the file
  Timing timing_;
  int rate_numerator_, rate_denominator_;
  int pixel_width_, pixel_height_;  ///< the shape of a pixel
  std::int64_t step_ns_;
  GstVideoInfo info_{};
  OutputFile file_;
  EncodingClock clock_;  // outlives the pipeline
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  Owned<GstBufferPool> pool_;
  GstElement* appsrc_ = nullptr;  // owned by pipeline_
  Owned<GstBuffer> previous_;     ///< the picture that fills a gap, at a constant rate
  std::uint64_t frames_ = 0;
  std::uint64_t clamped_ = 0;    ///< timestamps that went back or jumped, replaced by one frame's duration
  std::uint64_t repeated_ = 0;   ///< pictures that fill gaps
  std::uint64_t next_slot_ = 0;  ///< first at a constant rate that no picture has
  GstClockTime latest_ = 0;      ///< most that a picture stands after its time
  std::int64_t last_source_pts_ = 0, last_pts_ = 0;
};

}  // namespace contorno::gst
