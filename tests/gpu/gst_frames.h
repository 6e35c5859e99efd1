// What the programs that test the GStreamer element on a GPU share: a graph, and frames as bytes that can be
// compared.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <vector>

#include "plugins/gst/element/contornometa.h"

namespace contorno::test {

using Bytes = std::vector<std::uint8_t>;

inline constexpr const char* kGraph = R"(classes:
  - {name: red, references: ["#e02020"], colour: "#00ff00", fill: 0.3}
  - {name: rest, references: ["#305030", "#a0a0a0", "#101010"], hidden: true}
stages:
  - type: classify
  - type: marching_squares
  - type: contour_assembly
  - type: overlay
    line_width: 2
)";

/// Number of points of each contour, whether it is closed, and the points.
inline Bytes contours_of(GstBuffer* buffer) {
  const ContornoMeta* const meta = contorno_buffer_get_meta(buffer);
  if (meta == nullptr) return {};
  Bytes bytes;
  const auto add = [&](const void* data, std::size_t size) {
    bytes.insert(bytes.end(), static_cast<const std::uint8_t*>(data),
                 static_cast<const std::uint8_t*>(data) + size);
  };
  add(meta->offsets, (meta->n_contours + 1) * sizeof(guint32));
  add(meta->closed, meta->n_contours);
  add(meta->points, meta->offsets[meta->n_contours] * sizeof(ContornoPoint));
  return bytes;
}

/// Without what lies between rows and planes, which each memory has as it likes.
inline Bytes pixels_of(GstBuffer* buffer, const GstVideoInfo& info) {
  GstVideoFrame frame;
  Bytes bytes;
  if (!gst_video_frame_map(&frame, const_cast<GstVideoInfo*>(&info), buffer, GST_MAP_READ)) return bytes;
  for (guint plane = 0; plane < GST_VIDEO_INFO_N_PLANES(&info); ++plane) {
    gint components[GST_VIDEO_MAX_COMPONENTS];
    gst_video_format_info_component(info.finfo, plane, components);
    const auto one = static_cast<guint>(components[0]);
    const auto row_bytes = static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_WIDTH(&frame, one)) *
                           static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&frame, one));
    for (int row = 0; row < GST_VIDEO_FRAME_COMP_HEIGHT(&frame, one); ++row) {
      const auto* const data = static_cast<const std::uint8_t*>(frame.data[plane]) +
                               static_cast<std::ptrdiff_t>(row) * frame.info.stride[plane];
      bytes.insert(bytes.end(), data, data + row_bytes);
    }
  }
  gst_video_frame_unmap(&frame);
  return bytes;
}

}  // namespace contorno::test
