#include "plugins/gst/decoder_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace contorno::gst {
namespace {

/// Codecs of 8 bits and three components alone.
constexpr std::array<std::string_view, 12> kPlainCodecs{
    "video/mpeg",     "video/x-h263", "video/x-divx", "video/x-xvid",
    "video/x-msmpeg", "video/x-wmv",  "video/x-vp8",  "video/x-flash-video",
    "video/x-svq",    "video/x-dv",   "video/x-vp6",  "video/x-cinepak"};

/// Whether the samples of a stream surely have a name in GStreamer.
bool is_nameable(const GstStructure* caps) {
  const std::string_view type = gst_structure_get_name(caps);
  if (std::find(kPlainCodecs.begin(), kPlainCodecs.end(), type) != kPlainCodecs.end()) return true;
  if (type != "video/x-h264" && type != "video/x-h265") return false;
  guint bits = 0;
  const char* chroma = gst_structure_get_string(caps, "chroma-format");
  if (chroma == nullptr || gst_structure_get_uint(caps, "bit-depth-luma", &bits) == FALSE) return false;
  const bool grey = std::string_view(chroma) == "4:0:0";
  return bits == 8 || (!grey && (bits == 10 || bits == 12));
}

bool is_of_libav(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  if (!factory || !gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DECODER)) return false;
  const gchar* plugin = gst_plugin_feature_get_plugin_name(GST_PLUGIN_FEATURE(factory));
  return plugin != nullptr && std::string_view(plugin) == "libav";
}

GstPadProbeReturn on_caps(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (decoder)
    g_object_set(decoder.get(), "direct-rendering", is_nameable(gst_caps_get_structure(caps, 0)), nullptr);
  return GST_PAD_PROBE_OK;
}

void on_element(GstBin*, GstBin*, GstElement* element, gpointer) {
  if (!is_of_libav(element) ||
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), "direct-rendering") == nullptr)
    return;
  const Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_caps, nullptr, nullptr);
}

bool has_caps(GstElement* element, const char* pad_name) {
  const Owned<GstPad> pad(gst_element_get_static_pad(element, pad_name));
  return pad && Owned<GstCaps>(gst_pad_get_current_caps(pad.get()));
}

}  // namespace

void guard_decoders(GstElement* pipeline) {
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_element), nullptr);
}

std::string nameless_samples(GstElement* pipeline) {
  std::string sentence;
  const auto look = [](const GValue* item, gpointer found) {
    auto* element = GST_ELEMENT(g_value_get_object(item));
    if (is_of_libav(element) && has_caps(element, "sink") && !has_caps(element, "src"))
      *static_cast<std::string*>(found) =
          fmt::format("GStreamer has no name for the samples that {} makes, such as RGB of 16 bits",
                      GST_OBJECT_NAME(gst_element_get_factory(element)));
  };
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, look, &sentence);
  gst_iterator_free(elements);
  return sentence;
}

}  // namespace contorno::gst
