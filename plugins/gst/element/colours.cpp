#include "plugins/gst/element/colours.h"

#include <algorithm>
#include <array>
#include <memory>

#include "plugins/gst/element/caps_event.h"

namespace contorno::gst {
namespace {

/// A codec whose own definition says the matrix.
struct FixedColours {
  std::string_view coded;
  GstVideoColorMatrix matrix;
  GstVideoColorRange range;
  bool may_name_range;  ///< a range that is tagged counts
};
constexpr std::array kFixed{
    FixedColours{"video/x-vp8", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, false},
    FixedColours{"video/x-theora", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, true},
    FixedColours{"video/x-vp3", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, true},
    FixedColours{"video/x-vp6", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, true},
    FixedColours{"video/x-vp6-flash", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, true},
    FixedColours{"video/x-vp6-alpha", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_16_235, true},
    FixedColours{"image/jpeg", GST_VIDEO_COLOR_MATRIX_BT601, GST_VIDEO_COLOR_RANGE_0_255, true},
};

// What players take for high definition, whose usual matrix is that of BT.709.
constexpr int kColumnsOfHd = 1280, kMostRowsOfSd = 576;

GstVideoColorimetry told_by(const GstStructure* caps) {
  GstVideoColorimetry told{};
  const char* text = gst_structure_get_string(caps, "colorimetry");
  if (text == nullptr || gst_video_colorimetry_from_string(&told, text) == 0) told = kUnknownColours;
  return told;
}

/// The pad that data comes from, out of and into bins; a new reference, or null.
GstPad* origin_of(GstPad* pad) {
  GstPad* peer = gst_pad_get_peer(pad);
  while (peer != nullptr && GST_IS_PROXY_PAD(peer)) {
    GstPad* next = nullptr;
    if (GST_IS_GHOST_PAD(peer)) {
      next = gst_ghost_pad_get_target(GST_GHOST_PAD(peer));
    } else if (GstProxyPad* outside = gst_proxy_pad_get_internal(GST_PROXY_PAD(peer)); outside != nullptr) {
      next = gst_pad_get_peer(GST_PAD(outside));
      gst_object_unref(outside);
    }
    gst_object_unref(peer);
    peer = next;
  }
  return peer;
}

struct Unref {
  void operator()(gpointer object) const { gst_object_unref(object); }
};
using Pad = std::unique_ptr<GstPad, Unref>;
using Element = std::unique_ptr<GstElement, Unref>;

/// The media type of the caps of a pad.
std::string type_at(GstPad* pad) {
  GstCaps* caps = gst_pad_get_current_caps(pad);
  if (caps == nullptr) return {};
  std::string type = gst_structure_get_name(gst_caps_get_structure(caps, 0));
  gst_caps_unref(caps);
  return type;
}

/// The decoder of AV1 calls green, blue and red Y, Cb and Cr, and only the matrix of RGB tells. The format
/// itself for all others, whose decoders know better than the tags of a container.
GstVideoFormat true_format(GstVideoFormat format, const GstVideoColorimetry& told, std::string_view coded) {
  if (told.matrix != GST_VIDEO_COLOR_MATRIX_RGB || coded != "video/x-av1") return format;
  switch (format) {
    case GST_VIDEO_FORMAT_Y444:
      return GST_VIDEO_FORMAT_GBR;
    case GST_VIDEO_FORMAT_Y444_10LE:
      return GST_VIDEO_FORMAT_GBR_10LE;
    case GST_VIDEO_FORMAT_Y444_12LE:
      return GST_VIDEO_FORMAT_GBR_12LE;
    default:
      return format;
  }
}

GstPadProbeReturn on_caps(GstPad* pad, GstPadProbeInfo* probe, gpointer) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(probe);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  GstVideoInfo info;
  if (!read_caps(caps, coded_before(pad), info)) return GST_PAD_PROBE_OK;
  const char* format = gst_structure_get_string(gst_caps_get_structure(caps, 0), "format");
  const bool renamed = g_strcmp0(format, GST_VIDEO_INFO_NAME(&info)) != 0;
  if (GST_VIDEO_INFO_IS_RGB(&info) && !renamed) return GST_PAD_PROBE_OK;
  GstCaps* complete = gst_caps_copy(caps);
  if (renamed) gst_caps_set_simple(complete, "format", G_TYPE_STRING, GST_VIDEO_INFO_NAME(&info), nullptr);
  if (gchar* text = gst_video_colorimetry_to_string(&info.colorimetry); text != nullptr) {
    gst_caps_set_simple(complete, "colorimetry", G_TYPE_STRING, text, nullptr);
    g_free(text);
  }
  replace_caps(probe, complete);
  gst_caps_unref(complete);
  return GST_PAD_PROBE_OK;
}

}  // namespace

GstVideoColorimetry colours_of(const GstVideoInfo& info, const GstVideoColorimetry& told,
                               std::string_view coded) {
  GstVideoColorimetry colours = told;
  if (GST_VIDEO_INFO_IS_RGB(&info)) return colours;
  const auto* fixed =
      std::find_if(kFixed.begin(), kFixed.end(), [&](const FixedColours& one) { return one.coded == coded; });
  if (colours.range == GST_VIDEO_COLOR_RANGE_UNKNOWN || (fixed != kFixed.end() && !fixed->may_name_range)) {
    if (fixed != kFixed.end())
      colours.range = fixed->range;
    else
      colours.range =
          GST_VIDEO_INFO_IS_GRAY(&info) ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
  }
  if (fixed != kFixed.end()) {
    colours.matrix = fixed->matrix;
  } else if (colours.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN ||
             colours.matrix == GST_VIDEO_COLOR_MATRIX_RGB) {
    const bool hd =
        GST_VIDEO_INFO_WIDTH(&info) >= kColumnsOfHd || GST_VIDEO_INFO_HEIGHT(&info) > kMostRowsOfSd;
    colours.matrix = hd ? GST_VIDEO_COLOR_MATRIX_BT709 : GST_VIDEO_COLOR_MATRIX_BT601;
  }
  return colours;
}

bool read_caps(const GstCaps* caps, std::string_view coded, GstVideoInfo& info) {
  if (gst_video_info_from_caps(&info, caps) == 0) return false;
  const GstVideoColorimetry told = told_by(gst_caps_get_structure(caps, 0));
  const GstVideoFormat format = true_format(GST_VIDEO_INFO_FORMAT(&info), told, coded);
  const bool renamed = format != GST_VIDEO_INFO_FORMAT(&info);
  if (renamed) info.finfo = gst_video_format_get_info(format);
  info.colorimetry = colours_of(info, told, coded);
  if (renamed) info.colorimetry.range = GST_VIDEO_COLOR_RANGE_0_255;  // what FFmpeg takes RGB for
  return true;
}

std::string coded_before(GstPad* pad) {
  constexpr int kMostElements = 1000;
  Pad in(GST_PAD(gst_object_ref(pad)));
  for (int i = 0; in && i < kMostElements; ++i) {
    const Pad from(origin_of(in.get()));
    const Element element(from ? gst_pad_get_parent_element(from.get()) : nullptr);
    if (!element || element->numsinkpads != 1) return {};
    in.reset(GST_PAD(gst_object_ref(element->sinkpads->data)));
    GstElementFactory* factory = gst_element_get_factory(element.get());
    if (factory != nullptr && gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DECODER))
      return type_at(in.get());
  }
  return {};
}

void complete_colours(GstPad* pad) {
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_caps, nullptr, nullptr);
}

}  // namespace contorno::gst
