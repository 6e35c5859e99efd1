// FrameAccess brings the pixels of a GStreamer buffer to the graph, as RGBA, and what the graph has drawn
// back into the buffer, in its own format. Pixels on which nothing was drawn stay as they were, bit for bit.
// Strides and crops are those of the buffer. One thread may read while another finds and writes changes.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline/value/image.h"

namespace contorno::gst {

struct FreeConverter {
  void operator()(GstVideoConverter* converter) const { gst_video_converter_free(converter); }
};
using Converter = std::unique_ptr<GstVideoConverter, FreeConverter>;

/// A buffer's frame while it is mapped: the part of it that is shown.
class MappedFrame {
 public:
  /// Throws Error(BadData) when the buffer is smaller than its caps say, or cannot be mapped.
  MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags);
  ~MappedFrame() { gst_video_frame_unmap(&mapped_); }
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  GstVideoFrame& shown() { return shown_; }

 private:
  GstVideoFrame mapped_;
  GstVideoFrame shown_;  // without what a crop leaves out; borrows from mapped_
};

class FrameAccess {
 public:
  /// For frames of this format. Throws Error(BadConfig) for one that cannot be converted.
  explicit FrameAccess(const GstVideoInfo& info);

  const GstVideoInfo& info() const { return info_; }
  /// Of the frame as the graph gets it.
  ImageFormat format() const;

  /// Writes the frame as RGBA to `to`, of format().
  void read(MappedFrame& frame, const ImageView& to) const;
  /// Finds the pixels of `after` that differ from `before`. False: there are none.
  bool find_changes(const ImageView& before, const ImageView& after);
  /// Writes those pixels into the frame; `after` is the one of find_changes.
  void write_changes(MappedFrame& frame, const ImageView& after);

 private:
  void copy_component(GstVideoFrame& to, const GstVideoFrame& from, guint component) const;

  GstVideoInfo info_, rgba_;
  Converter to_rgba_, from_rgba_;      // null for RGBA
  std::vector<std::uint8_t> drawn_;    // memory of a frame in the format of the buffers
  std::vector<std::uint8_t> changed_;  // for every pixel, whether it was drawn on
  std::vector<std::uint8_t> changed_rows_;
};

}  // namespace contorno::gst
