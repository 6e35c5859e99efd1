// Caps of raw video, and frames out of samples.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "plugins/gst/fields.h"
#include "plugins/gst/i420.h"
#include "plugins/gst/pipeline.h"

namespace contorno::gst {
namespace {

void copy_rgba(const GstVideoFrame& frame, const ImageView& target) {
  const auto* source = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const std::ptrdiff_t pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  const std::size_t row_bytes = static_cast<std::size_t>(GST_VIDEO_FRAME_WIDTH(&frame)) * 4;
  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); ++y)
    std::memcpy(target.row<std::uint8_t>(y), source + y * pitch, row_bytes);
}

/// What becomes of the upper eight bits of a sample. videoconvert goes by way of YCbCr, and gives colours to
/// grey.
std::array<std::uint8_t, 256> levels_of(const GstVideoFrame& frame) {
  std::array<int, GST_VIDEO_MAX_COMPONENTS> offset{}, scale{};
  gst_video_color_range_offsets(frame.info.colorimetry.range,
                                gst_video_format_get_info(GST_VIDEO_FORMAT_GRAY8), offset.data(),
                                scale.data());
  std::array<std::uint8_t, 256> levels{};
  for (int i = 0; i < 256; ++i)
    levels[static_cast<std::size_t>(i)] =
        static_cast<std::uint8_t>(std::clamp(((i - offset[0]) * 510 + scale[0]) / (2 * scale[0]), 0, 255));
  return levels;
}

void copy_grey(const GstVideoFrame& frame, const ImageView& target) {
  const std::array<std::uint8_t, 256> levels = levels_of(frame);
  const auto* source = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const std::ptrdiff_t pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  const int bytes = GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, 0);
  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); ++y) {
    const std::uint8_t* upper = source + y * pitch + (bytes - 1);  // little-endian
    std::uint8_t* pixel = target.row<std::uint8_t>(y);
    for (int x = 0; x < GST_VIDEO_FRAME_WIDTH(&frame); ++x, upper += bytes, pixel += 4) {
      pixel[0] = pixel[1] = pixel[2] = levels[*upper];
      pixel[3] = 255;
    }
  }
}

/// Which field of a frame is first: by the format, else by the flags of the frame; where neither says
/// anything of fields, the usual one.
FirstField first_field(const GstVideoInfo& info, GstBuffer* buffer) {
  if (GST_VIDEO_INFO_FIELD_ORDER(&info) == GST_VIDEO_FIELD_ORDER_TOP_FIELD_FIRST) return FirstField::Upper;
  if (GST_VIDEO_INFO_FIELD_ORDER(&info) == GST_VIDEO_FIELD_ORDER_BOTTOM_FIELD_FIRST) return FirstField::Lower;
  const bool upper = GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_TFF),
             flagged = GST_BUFFER_FLAG_IS_SET(buffer, GST_VIDEO_BUFFER_FLAG_INTERLACED);
  return upper || !flagged ? FirstField::Upper : FirstField::Lower;
}

}  // namespace

Owned<GstCaps> raw_caps(const char* format, int width, int height, int rate_numerator, int rate_denominator) {
  ensure_init();  // caps need GStreamer's types
  Owned<GstCaps> caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, nullptr));
  const auto set_side = [&](const char* name, int side) {
    if (side > 0)
      gst_caps_set_simple(caps.get(), name, G_TYPE_INT, side, nullptr);
    else
      gst_caps_set_simple(caps.get(), name, GST_TYPE_INT_RANGE, 1, kMaxVideoSide, nullptr);
  };
  set_side("width", width);
  set_side("height", height);
  if (rate_numerator > 0)
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, rate_numerator, rate_denominator,
                        nullptr);
  return caps;
}

const char* raw_format_of(const ImageFormat& format) {
  if (format.type == ElementType::U8 && (format.layout == Layout::Interleaved || format.channels == 1)) {
    if (format.channels == 4) return "RGBA";
    if (format.channels == 3) return "RGB";
    if (format.channels == 1) return "GRAY8";
  }
  throw Error(
      ExitCode::BadConfig,
      fmt::format("a picture of {} cannot be written or shown, allowed are u8 interleaved images of 1, 3 "
                  "or 4 channels",
                  describe(format)));
}

ImageFormat format_of(GstSample* sample) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)))
    throw InternalError("frames without video caps");
  return {.width = GST_VIDEO_INFO_WIDTH(&info), .height = GST_VIDEO_INFO_HEIGHT(&info), .channels = 4};
}

bool has_fields(GstSample* sample) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) return false;
  if (GST_VIDEO_INFO_INTERLACE_MODE(&info) != GST_VIDEO_INTERLACE_MODE_MIXED)
    return GST_VIDEO_INFO_IS_INTERLACED(&info);
  return GST_BUFFER_FLAG_IS_SET(gst_sample_get_buffer(sample), GST_VIDEO_BUFFER_FLAG_INTERLACED);
}

bool copy_frame(GstSample* sample, const ImageView& target) {
  GstVideoInfo info;
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!buffer || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) return false;
  GstVideoFrame frame;
  // Mapping takes the strides from the buffer's metadata where it has some, and checks its size.
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return false;
  if (GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_I420)
    read_i420(frame, target);
  else if (GST_VIDEO_INFO_IS_GRAY(&frame.info))
    copy_grey(frame, target);
  else
    copy_rgba(frame, target);
  if (GST_VIDEO_FRAME_IS_INTERLACED(&frame)) join_fields(target, first_field(info, buffer));
  gst_video_frame_unmap(&frame);
  return true;
}

std::string too_few_bytes(GstSample* sample) {
  GstVideoInfo info;
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!buffer || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample)))
    return "the decoder gave no picture";
  return fmt::format(
      "the decoder gave {} bytes for a picture of {}x{} px, which takes {}; the file may be damaged",
      gst_buffer_get_size(buffer), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info),
      GST_VIDEO_INFO_SIZE(&info));
}

}  // namespace contorno::gst
