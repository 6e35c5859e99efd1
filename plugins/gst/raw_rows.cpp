#include "plugins/gst/raw_rows.h"

#include <gst/video/video.h>

#include <algorithm>

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

GstPadProbeReturn on_buffer(GstPad* pad, GstPadProbeInfo* probe, gpointer) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(probe);
  if (gst_buffer_get_video_meta(buffer) != nullptr) return GST_PAD_PROBE_OK;
  const Owned<GstCaps> caps(gst_pad_get_current_caps(pad));
  GstVideoInfo info;
  if (!caps || gst_video_info_from_caps(&info, caps.get()) == FALSE) return GST_PAD_PROBE_OK;
  const gsize bytes = gst_buffer_get_size(buffer);
  DenseRows rows;
  if (bytes >= GST_VIDEO_INFO_SIZE(&info) || !lay_out(info, rows) || rows.bytes != bytes)
    return GST_PAD_PROBE_OK;
  buffer = gst_buffer_make_writable(buffer);
  GST_PAD_PROBE_INFO_DATA(probe) = buffer;
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, GST_VIDEO_INFO_FORMAT(&info),
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)),
                                 GST_VIDEO_INFO_N_PLANES(&info), rows.offset, rows.stride);
  return GST_PAD_PROBE_OK;
}

}  // namespace

void describe_dense_rows(GstPad* pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, on_buffer, nullptr, nullptr);
}

}  // namespace contorno::gst
