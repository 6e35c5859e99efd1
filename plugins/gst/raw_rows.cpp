#include "plugins/gst/raw_rows.h"

#include <gst/video/video.h>

#include <algorithm>
#include <string_view>

namespace contorno::gst {
namespace {

/// Where the planes of a picture begin, and how far apart their rows are, where there are no gaps.
struct DenseRows {
  gsize offset[GST_VIDEO_MAX_PLANES] = {};
  gint stride[GST_VIDEO_MAX_PLANES] = {};
  gsize bytes = 0;
};

/// False for formats whose samples are no whole bytes.
bool lay_out(const GstVideoInfo& info, DenseRows& rows) {
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    gint height = 0;
    for (guint component = 0; component < GST_VIDEO_INFO_N_COMPONENTS(&info); ++component) {
      if (static_cast<guint>(GST_VIDEO_INFO_COMP_PLANE(&info, component)) != plane) continue;
      const gint pixel = GST_VIDEO_INFO_COMP_PSTRIDE(&info, component);
      if (pixel <= 0) return false;
      const gint samples =
          GST_VIDEO_FORMAT_INFO_SCALE_WIDTH(info.finfo, component, GST_VIDEO_INFO_WIDTH(&info));
      rows.stride[plane] = std::max(rows.stride[plane], samples * pixel);
      height = GST_VIDEO_FORMAT_INFO_SCALE_HEIGHT(info.finfo, component, GST_VIDEO_INFO_HEIGHT(&info));
    }
    rows.offset[plane] = rows.bytes;
    rows.bytes += static_cast<gsize>(rows.stride[plane]) * static_cast<gsize>(height);
  }
  return true;
}

/// Rows of a format of one plane that begin at multiples of some power of two: `bytes` makes whole rows of
/// the picture, and there is no shorter one that would do.
bool lay_out_aligned(const GstVideoInfo& info, gsize bytes, DenseRows& rows) {
  constexpr gsize kMostAlignment = 256;  // of r210, whose rows have multiples of 64 pixels
  const auto height = static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info));
  if (GST_VIDEO_INFO_N_PLANES(&info) != 1 || bytes % height != 0 || !lay_out(info, rows)) return false;
  const gsize row = bytes / height, dense = static_cast<gsize>(rows.stride[0]);
  for (gsize alignment = 1; alignment <= kMostAlignment; alignment *= 2) {
    if ((dense + alignment - 1) / alignment * alignment != row) continue;
    rows.stride[0] = static_cast<gint>(row);
    rows.bytes = bytes;
    return true;
  }
  return false;
}

GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* probe, gpointer) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  if (gst_buffer_get_video_meta(buffer) != nullptr) return GST_PAD_PROBE_OK;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  GstVideoInfo info;
  if (!caps || gst_video_info_from_caps(&info, caps.get()) == FALSE) return GST_PAD_PROBE_OK;
  const gsize bytes = gst_buffer_get_size(buffer);
  DenseRows rows;
  if (bytes == GST_VIDEO_INFO_SIZE(&info)) return GST_PAD_PROBE_OK;
  const bool dense = bytes < GST_VIDEO_INFO_SIZE(&info) && lay_out(info, rows) && rows.bytes == bytes;
  if (!dense && !lay_out_aligned(info, bytes, rows)) return GST_PAD_PROBE_OK;
  buffer = gst_buffer_make_writable(buffer);
  GST_PAD_PROBE_INFO_DATA(probe) = buffer;
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)),
                                 GST_VIDEO_INFO_N_PLANES(&info), rows.offset, rows.stride);
  return GST_PAD_PROBE_OK;
}

/// Cr, Y and Cb of QuickTime become Y, Cb and Cr.
GstPadProbeReturn turn_v308(GstPad* pad, GstPadProbeInfo* probe, gpointer) {
  constexpr gsize kPixel = 3;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  GstVideoInfo info;
  if (!caps || gst_video_info_from_caps(&info, caps.get()) == FALSE ||
      GST_VIDEO_INFO_FORMAT(&info) != GST_VIDEO_FORMAT_v308)
    return GST_PAD_PROBE_REMOVE;
  GstBuffer* buffer = gst_buffer_make_writable(GST_PAD_PROBE_INFO_BUFFER(probe));
  GST_PAD_PROBE_INFO_DATA(probe) = buffer;
  GstMapInfo map;
  if (gst_buffer_map(buffer, &map, GST_MAP_READWRITE) == FALSE) return GST_PAD_PROBE_OK;
  const gsize row = map.size / static_cast<gsize>(GST_VIDEO_INFO_HEIGHT(&info));
  const gsize samples = std::min(row, static_cast<gsize>(GST_VIDEO_INFO_WIDTH(&info)) * kPixel);
  for (gsize begin = 0; begin + row <= map.size && row > 0; begin += row)
    for (gsize at = begin; at + kPixel <= begin + samples; at += kPixel)
      std::rotate(map.data + at, map.data + at + 1, map.data + at + kPixel);
  gst_buffer_unmap(buffer, &map);
  return GST_PAD_PROBE_OK;
}

void on_demuxed(GstElement*, GstPad* pad, gpointer) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, turn_v308, nullptr, nullptr);
}

void on_demuxer(GstBin*, GstBin*, GstElement* element, gpointer) {
  GstElementFactory* factory = gst_element_get_factory(element);
  if (factory != nullptr && std::string_view(GST_OBJECT_NAME(factory)) == "qtdemux")
    g_signal_connect(element, "pad-added", G_CALLBACK(on_demuxed), nullptr);
}

}  // namespace

void describe_rows(GstPad* pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, nullptr, nullptr);
}

void turn_quicktime_samples(GstElement* pipeline) {
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_demuxer), nullptr);
}

}  // namespace contorno::gst
