#include "plugins/gst/element/frame_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/graph/applied.h"
#include "pipeline/value/image_rows.h"
#include "pipeline/value/sides.h"
#include "plugins/gst/element/device_memory.h"

namespace contorno::gst {
namespace {

constexpr int kBytesPerPixel = 4;

/// Bytes of a row of a component's plane.
std::size_t row_bytes(const GstVideoInfo& info, guint component, int width) {
  const int samples = GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info.finfo, component, width);
  return static_cast<std::size_t>(samples) *
         static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, component));
}

/// One past the last byte of a frame whose rows lie as `offsets` and `strides` say.
std::size_t end_of_frame(const GstVideoInfo& info, const gsize* offsets, const gint* strides, int width,
                         int height) {
  std::size_t end = 0;
  for (guint component = 0; component < GST_VIDEO_INFO_N_COMPONENTS(&info); ++component) {
    const auto plane = static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, component));
    const int rows = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info.finfo, component, height);
    const std::size_t last_row =
        static_cast<std::size_t>(rows - 1) * static_cast<std::size_t>(strides[plane]);
    end = std::max(end, offsets[plane] + last_row + row_bytes(info, component, width));
  }
  return end;
}

/// GStreamer itself would read past the end, or warn and go on.
void check_size(GstBuffer* buffer, const GstVideoInfo& info) {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const std::size_t needed = meta != nullptr
                                 ? end_of_frame(info, meta->offset, meta->stride,
                                                static_cast<int>(meta->width), static_cast<int>(meta->height))
                                 : end_of_frame(info, info.offset, info.stride, info.width, info.height);
  if (const std::size_t size = gst_buffer_get_size(buffer); size < needed)
    throw Error(ExitCode::BadData,
                fmt::format("a buffer has {} bytes, but a frame of {} x {} px of {} takes {}", size,
                            info.width, info.height, GST_VIDEO_INFO_NAME(&info), needed));
}

/// The frame of an image in memory, for GStreamer's functions.
GstVideoFrame frame_of(const ImageView& image, const GstVideoInfo& info) {
  GstVideoFrame frame{};
  frame.info = info;
  frame.info.stride[0] = static_cast<gint>(image.row_pitch);
  frame.data[0] = image.data;
  return frame;
}

MemoryRows rows_of(const GstVideoFrame& frame) {
  return {frame.data[0], static_cast<std::size_t>(frame.info.stride[0])};
}

Converter make_converter(GstVideoInfo from, GstVideoInfo to) {
  Converter converter(gst_video_converter_new(&from, &to, nullptr));
  if (!converter)
    throw Error(ExitCode::BadConfig, fmt::format("frames of {} cannot be made {}", GST_VIDEO_INFO_NAME(&from),
                                                 GST_VIDEO_INFO_NAME(&to)));
  return converter;
}

}  // namespace

MappedFrame::MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags) {
  check_size(buffer, info);
  if (!gst_video_frame_map(&mapped_, &info, buffer, flags))
    throw Error(ExitCode::BadData, "a buffer cannot be mapped as a frame of its caps");
  shown_ = mapped_;
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const int x = crop != nullptr ? static_cast<int>(crop->x) : 0,
            y = crop != nullptr ? static_cast<int>(crop->y) : 0;
  if (mapped_.info.width < x + info.width || mapped_.info.height < y + info.height) {
    const int width = mapped_.info.width, height = mapped_.info.height;
    gst_video_frame_unmap(&mapped_);
    throw Error(ExitCode::BadData,
                fmt::format("a buffer has {} x {} px, but its caps say {} x {}{}", width, height, info.width,
                            info.height, crop != nullptr ? " behind its crop" : ""));
  }
  shown_.info.width = info.width;
  shown_.info.height = info.height;
  for (guint component = 0; component < GST_VIDEO_INFO_N_COMPONENTS(&info); ++component) {
    const auto plane = static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, component));
    const int skipped_rows = y >> GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, component);
    const int skipped_pixels = x >> GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, component);
    shown_.data[plane] =
        static_cast<guint8*>(mapped_.data[plane]) +
        static_cast<std::ptrdiff_t>(skipped_rows) * mapped_.info.stride[plane] +
        static_cast<std::ptrdiff_t>(skipped_pixels) * GST_VIDEO_INFO_COMP_PSTRIDE(&info, component);
  }
}

namespace {

/// Null where memory or threads for it are missing: the driver copies too, only more slowly.
std::unique_ptr<StagedCopy> make_staged_copy(std::size_t row_bytes, int rows) try {
  return std::make_unique<StagedCopy>(row_bytes, rows);
} catch (const Error& error) {
  if (error.code() != ExitCode::OutOfMemory) throw;
  return nullptr;
}

}  // namespace

FrameAccess::FrameAccess(const GstVideoInfo& info, Place place) : info_(info), place_(place) {
  check_sides(format(info), "a frame of the pipeline");  // before memory is taken for it
  const auto width = static_cast<guint>(info.width), height = static_cast<guint>(info.height);
  gst_video_info_set_format(&rgba_, GST_VIDEO_FORMAT_RGBA, width, height);
  rgba_.interlace_mode = info.interlace_mode;
  rgba_.fps_n = info.fps_n, rgba_.fps_d = info.fps_d;
  rgba_.par_n = info.par_n, rgba_.par_d = info.par_d;
  if (has_frames_on_device()) {
    reading_ = Stream::create();
    writing_ = Stream::create();
    if (place == Place::Copied && StagedCopy::threads() > 1)
      staged_ = make_staged_copy(width * std::size_t{kBytesPerPixel}, info.height);
    if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_NV12) nv12_ = std::make_unique<Nv12Frames>(info);
    return;
  }
  changed_rows_.resize(height);
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_RGBA) return;
  changed_.resize(static_cast<std::size_t>(width) * height);
  to_rgba_ = make_converter(info, rgba_);
  from_rgba_ = make_converter(rgba_, info);
  drawn_.resize(GST_VIDEO_INFO_SIZE(&info));
}

ImageFormat FrameAccess::format(const GstVideoInfo& info) {
  return {.width = info.width, .height = info.height, .channels = kBytesPerPixel};
}

MappedFrame FrameAccess::map(GstBuffer* buffer, GstMapFlags flags) const {
  if (has_buffers_on_device()) {
    wait_for_contents(buffer);
    flags = static_cast<GstMapFlags>(flags | kMapOnDevice);
  }
  return MappedFrame(buffer, info_, flags);
}

/// The copy is complete when this returns: buffers go to who knows nothing of our streams, and come from
/// them.
void FrameAccess::copy_rows(const MemoryRows& to, const MemoryRows& from, const Stream& stream) const {
  copy_rows_async(to, from, static_cast<std::size_t>(info_.width) * kBytesPerPixel,
                  static_cast<std::size_t>(info_.height), stream.get());
  stream.synchronize();
}

/// Not page-locked: the bus cannot take it from there.
bool FrameAccess::is_ordinary(const MemoryRows& buffer) const {
  return staged_ && pointer_info(buffer.data).kind == PointerKind::Unknown;
}

void FrameAccess::read(MappedFrame& frame, const ImageView& to) {
  GstVideoFrame& from = frame.shown();
  if (nv12_) return nv12_->read(from, to, reading_);
  if (is_ordinary(rows_of(from))) return staged_->to_device(rows_of(to), rows_of(from));
  if (has_frames_on_device()) return copy_rows(rows_of(to), rows_of(from), reading_);
  if (!to_rgba_) {
    copy_image({from.data[0], to.format, from.info.stride[0], 0}, to);
    return;
  }
  GstVideoFrame rgba = frame_of(to, rgba_);
  rgba.flags = from.flags;
  gst_video_converter_frame(to_rgba_.get(), &from, &rgba);
}

void FrameAccess::write_changes(MappedFrame& frame, const ImageView& before, const ImageView& after) {
  if (nv12_) return nv12_->draw(before, after, frame.shown(), writing_);
  if (is_ordinary(rows_of(frame.shown()))) return staged_->to_host(rows_of(frame.shown()), rows_of(after));
  if (has_frames_on_device()) return copy_rows(rows_of(frame.shown()), rows_of(after), writing_);
  GstVideoFrame& to = frame.shown();
  if (!from_rgba_) return copy_changed_rows(to, after);
  GstVideoFrame drawn = frame_of(after, rgba_), converted{};
  converted.info = info_;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info_); ++plane)
    converted.data[plane] = drawn_.data() + info_.offset[plane];
  drawn.flags = converted.flags = to.flags;
  gst_video_converter_frame(from_rgba_.get(), &drawn, &converted);
  for (guint component = 0; component < GST_VIDEO_INFO_N_COMPONENTS(&info_); ++component)
    copy_component(to, converted, component);
}

/// Fills changed_rows_, and changed_ where pixels are converted.
bool FrameAccess::find_changes(const ImageView& before, const ImageView& after) {
  if (has_frames_on_device()) return true;
  bool any = false;
  const auto width = static_cast<std::size_t>(info_.width);
  for (int y = 0; y < info_.height; ++y) {
    const auto* const old_row = before.row<const std::uint8_t>(y);
    const auto* const new_row = after.row<const std::uint8_t>(y);
    const bool differs = std::memcmp(old_row, new_row, width * kBytesPerPixel) != 0;
    changed_rows_[static_cast<std::size_t>(y)] = static_cast<std::uint8_t>(differs);
    any = any || differs;
    if (!from_rgba_) continue;
    std::uint8_t* const row = changed_.data() + static_cast<std::size_t>(y) * width;
    if (!differs) {
      std::fill_n(row, width, std::uint8_t{0});
      continue;
    }
    for (std::size_t x = 0; x < width; ++x)
      row[x] = static_cast<std::uint8_t>(
          std::memcmp(old_row + x * kBytesPerPixel, new_row + x * kBytesPerPixel, kBytesPerPixel) != 0);
  }
  return any;
}

/// Copies rows with changes to a frame of RGBA: its pixels without changes are those of `from`.
void FrameAccess::copy_changed_rows(const GstVideoFrame& to, const ImageView& from) const {
  for (int y = 0; y < info_.height; ++y)
    if (changed_rows_[static_cast<std::size_t>(y)] != 0)
      std::memcpy(static_cast<std::uint8_t*>(to.data[0]) + static_cast<std::ptrdiff_t>(y) * to.info.stride[0],
                  from.row<const std::uint8_t>(y), static_cast<std::size_t>(info_.width) * kBytesPerPixel);
}

/// Copies the samples of a component that belong to a changed pixel; one of chroma belongs to several pixels.
void FrameAccess::copy_component(GstVideoFrame& to, const GstVideoFrame& from, guint component) const {
  const GstVideoFormatInfo* const format = info_.finfo;
  const auto plane = static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info_, component));
  const int columns_shift = GST_VIDEO_FORMAT_INFO_W_SUB(format, component),
            rows_shift = GST_VIDEO_FORMAT_INFO_H_SUB(format, component);
  const auto step = static_cast<std::size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info_, component));
  const auto bytes = static_cast<std::size_t>((GST_VIDEO_FORMAT_INFO_DEPTH(format, component) + 7) / 8);
  auto offset = static_cast<std::size_t>(GST_VIDEO_INFO_COMP_POFFSET(&info_, component));
  if (offset % bytes != 0) offset *= bytes;  // of P010 and its like GStreamer counts it in samples
  const auto at = [&](const GstVideoFrame& frame, int y) {
    return static_cast<std::uint8_t*>(frame.data[plane]) +
           static_cast<std::ptrdiff_t>(y) * frame.info.stride[plane] + offset;
  };
  for (int y = 0; y < info_.height; ++y) {
    if (changed_rows_[static_cast<std::size_t>(y)] == 0) continue;
    const std::uint8_t* const changed =
        changed_.data() + static_cast<std::size_t>(y) * static_cast<std::size_t>(info_.width);
    std::uint8_t* const target = at(to, y >> rows_shift);
    const std::uint8_t* const drawn = at(from, y >> rows_shift);
    for (int x = 0; x < info_.width; ++x) {
      const std::size_t place = static_cast<std::size_t>(x >> columns_shift) * step;
      if (changed[x] != 0) std::memcpy(target + place, drawn + place, bytes);
    }
  }
}

}  // namespace contorno::gst
