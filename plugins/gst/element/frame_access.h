// FrameAccess brings the pixels of a GStreamer buffer to the graph, as RGBA, and what the graph has drawn
// back into the buffer, in its own format. Pixels on which nothing was drawn stay as they were, bit for bit.
// Frames that the graph gets on the device are copied there and back: RGBA without a look at the pixels, NV12
// by conversions on the device with the same results.
// Strides and crops are those of the buffer. One thread may read while another finds and writes changes.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/pointer.h"
#include "cuda/stream.h"
#include "pipeline/value/image.h"
#include "plugins/gst/element/nv12_frames.h"
#include "plugins/gst/element/staged_copy.h"

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
  /// Where pixels lie. Host: buffers and the graph's frames are on the host. Copied: buffers are on the host,
  /// and RGBA is copied to the device and back. Device: buffers and frames are on the device, as RGBA or
  /// NV12.
  enum class Place : std::uint8_t { Host, Copied, Device };
  /// Converts frames of this format. Throws Error(BadConfig) for one that cannot be converted.
  FrameAccess(const GstVideoInfo& info, Place place);

  const GstVideoInfo& info() const { return info_; }
  /// Whether buffers lie on the device.
  bool has_buffers_on_device() const { return place_ == Place::Device; }
  /// Whether the graph's frames and drawings lie on the device.
  bool has_frames_on_device() const { return place_ != Place::Host; }
  /// The format of the frame that the graph gets.
  static ImageFormat format(const GstVideoInfo& info);

  /// Maps a buffer for one of the two functions that take it so. Throws Error(BadData).
  MappedFrame map(GstBuffer* buffer, GstMapFlags flags) const;
  /// Writes the frame as RGBA to `to`, of format(). Throws Error(BadData) for one that cannot be converted.
  void read(MappedFrame& frame, const ImageView& to);
  /// Finds the pixels of `after` that differ from `before`. False: there are none. It does not look at frames
  /// on the device.
  bool find_changes(const ImageView& before, const ImageView& after);
  /// Writes those pixels into the frame; the images are those of find_changes.
  void write_changes(MappedFrame& frame, const ImageView& before, const ImageView& after);

 private:
  void copy_rows(const MemoryRows& to, const MemoryRows& from, const Stream& stream) const;
  bool is_ordinary(const MemoryRows& buffer) const;
  void copy_changed_rows(const GstVideoFrame& to, const ImageView& from) const;
  void copy_component(GstVideoFrame& to, const GstVideoFrame& from, guint component) const;

  GstVideoInfo info_, rgba_;
  Place place_;
  Stream reading_, writing_;            // streams of the device
  std::unique_ptr<StagedCopy> staged_;  // copies buffers in ordinary memory; null: all are copied directly
  std::unique_ptr<Nv12Frames> nv12_;    // on the device, for NV12
  Converter to_rgba_, from_rgba_;       // null for RGBA
  std::vector<std::uint8_t> drawn_;     // memory of a frame in the format of the buffers
  std::vector<std::uint8_t> changed_;   // for every pixel, whether it was drawn on
  std::vector<std::uint8_t> changed_rows_;
};

}  // namespace contorno::gst
