#include "plugins/gst/stream_colours.h"

#include <gst/video/video.h>

#include <array>
#include <string_view>

#include "plugins/gst/element/caps_event.h"
#include "plugins/gst/element/colours.h"

namespace contorno::gst {
namespace {

constexpr const char* kLimitedJpegs = "contorno-limited-jpegs";

/// Looks through the segments before the picture itself (ITU-T T.81, annex B).
bool names_limited_range(GstBuffer* buffer) {
  constexpr std::string_view kComment = "CS=ITU601";
  constexpr unsigned kMarker = 0xFF, kCommentMarker = 0xFE, kScanMarker = 0xDA;
  constexpr gsize kSegmentHeader = 4;
  std::array<guint8, 4096> start{};
  const gsize bytes = gst_buffer_extract(buffer, 0, start.data(), start.size());
  for (gsize at = 2; at + kSegmentHeader + kComment.size() <= bytes && start[at] == kMarker;) {
    if (start[at + 1] == kScanMarker) return false;
    const std::string_view text(reinterpret_cast<const char*>(start.data() + at + kSegmentHeader),
                                kComment.size());
    if (start[at + 1] == kCommentMarker && text == kComment) return true;
    at += 2 + (gsize{start[at + 2]} << 8U) + start[at + 3];
  }
  return false;
}

/// Looks at the range of the first JPEG, before its decoder says what it makes.
GstPadProbeReturn on_first_jpeg(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (decoder && names_limited_range(GST_PAD_PROBE_INFO_BUFFER(info)))
    g_object_set_data(G_OBJECT(decoder.get()), kLimitedJpegs, GINT_TO_POINTER(1));
  return GST_PAD_PROBE_REMOVE;
}

GstPadProbeReturn on_jpeg_caps(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS || !decoder ||
      g_object_get_data(G_OBJECT(decoder.get()), kLimitedJpegs) == nullptr)
    return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  GstVideoInfo video;
  if (!read_caps(caps, "image/jpeg", video) || GST_VIDEO_INFO_IS_RGB(&video)) return GST_PAD_PROBE_OK;
  video.colorimetry.range = GST_VIDEO_COLOR_RANGE_16_235;
  const Owned<gchar> named(gst_video_colorimetry_to_string(&video.colorimetry));
  const Owned<GstCaps> limited(gst_caps_copy(caps));
  gst_caps_set_simple(limited.get(), "colorimetry", G_TYPE_STRING, named.get(), nullptr);
  replace_caps(info, limited.get());
  return GST_PAD_PROBE_OK;
}

constexpr const char* kTag = "contorno-container-colours";

const char* colours_in(GstPadProbeInfo* info, GstCaps** caps) {
  gst_event_parse_caps(GST_PAD_PROBE_INFO_EVENT(info), caps);
  return gst_structure_get_string(gst_caps_get_structure(*caps, 0), "colorimetry");
}

/// A tag without a matrix would keep the parser from saying that of the stream.
GstPadProbeReturn take_tag(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  GstVideoColorimetry told;
  const char* tag = colours_in(info, &caps);
  if (tag == nullptr || gst_video_colorimetry_from_string(&told, tag) == FALSE ||
      told.matrix != GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    return GST_PAD_PROBE_OK;
  const Owned<GstElement> parser(gst_pad_get_parent_element(pad));
  if (parser) g_object_set_data_full(G_OBJECT(parser.get()), kTag, g_strdup(tag), g_free);
  const Owned<GstCaps> without(gst_caps_copy(caps));
  gst_structure_remove_field(gst_caps_get_structure(without.get(), 0), "colorimetry");
  replace_caps(info, without.get());
  return GST_PAD_PROBE_OK;
}

/// Where the stream says nothing the tag counts.
GstPadProbeReturn give_tag(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  if (GST_EVENT_TYPE(GST_PAD_PROBE_INFO_EVENT(info)) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  const Owned<GstElement> parser(gst_pad_get_parent_element(pad));
  const auto* tag =
      parser ? static_cast<const char*>(g_object_get_data(G_OBJECT(parser.get()), kTag)) : nullptr;
  GstCaps* caps = nullptr;
  if (tag == nullptr || colours_in(info, &caps) != nullptr) return GST_PAD_PROBE_OK;
  const Owned<GstCaps> with_tag(gst_caps_copy(caps));
  gst_caps_set_simple(with_tag.get(), "colorimetry", G_TYPE_STRING, tag, nullptr);
  replace_caps(info, with_tag.get());
  return GST_PAD_PROBE_OK;
}

void on_coloured(GstBin*, GstBin*, GstElement* element, gpointer) {
  GstElementFactory* factory = gst_element_get_factory(element);
  const std::string_view name = factory != nullptr ? GST_OBJECT_NAME(factory) : "";
  if (name != "jpegdec" && name != "av1parse") return;
  const Owned<GstPad> in(gst_element_get_static_pad(element, "sink")),
      out(gst_element_get_static_pad(element, "src"));
  if (name == "av1parse") {
    gst_pad_add_probe(in.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, take_tag, nullptr, nullptr);
    gst_pad_add_probe(out.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, give_tag, nullptr, nullptr);
    return;
  }
  gst_pad_add_probe(in.get(), GST_PAD_PROBE_TYPE_BUFFER, on_first_jpeg, nullptr, nullptr);
  gst_pad_add_probe(out.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_jpeg_caps, nullptr, nullptr);
}

}  // namespace

void read_stream_colours(GstElement* pipeline) {
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_coloured), nullptr);
}

}  // namespace contorno::gst
