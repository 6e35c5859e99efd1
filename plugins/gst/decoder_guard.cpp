#include "plugins/gst/decoder_guard.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "plugins/gst/element/caps_event.h"

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

GstPadProbeReturn allow_direct_rendering(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (decoder)
    g_object_set(decoder.get(), "direct-rendering", is_nameable(gst_caps_get_structure(caps, 0)), nullptr);
  return GST_PAD_PROBE_OK;
}

constexpr const char* kPalette = "contorno-palette";

GstPadProbeReturn replace_palette(GstPad*, GstPadProbeInfo* info, gpointer palette) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  if (gst_structure_has_field(gst_caps_get_structure(caps, 0), "palette_data") == FALSE)
    return GST_PAD_PROBE_OK;
  const Owned<GstCaps> replaced(gst_caps_copy(caps));
  gst_caps_set_simple(replaced.get(), "palette_data", GST_TYPE_BUFFER, palette, nullptr);
  replace_caps(info, replaced.get());
  return GST_PAD_PROBE_OK;
}

constexpr std::string_view kPng = "pngdec";

bool is_pngdec(GstElement* element) {
  GstElementFactory* factory = gst_element_get_factory(element);
  return factory != nullptr && GST_OBJECT_NAME(factory) == kPng;
}

/// Refuses RGB of 16 bits without alpha, of which pngdec (1.22) makes other pictures: it takes rows for those
/// of RGBA.
GstPadProbeReturn refuse_deep_rgb(GstPad* pad, GstPadProbeInfo* info, gpointer) {
  constexpr gsize kDepthAt = 24, kColourAt = 25;
  constexpr guint8 kDeep = 16, kRgb = 2;
  guint8 header[kColourAt + 1] = {};
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (gst_buffer_extract(buffer, 0, header, sizeof(header)) != sizeof(header) || header[kDepthAt] != kDeep ||
      header[kColourAt] != kRgb)
    return GST_PAD_PROBE_OK;
  const Owned<GstElement> decoder(gst_pad_get_parent_element(pad));
  if (decoder)
    GST_ELEMENT_ERROR(decoder.get(), STREAM, FORMAT,
                      ("it makes wrong pictures of RGB of 16 bits without alpha; with the module deep a file "
                       "of it is read"),
                      (nullptr));
  return GST_PAD_PROBE_DROP;
}

void on_element(GstBin*, GstBin*, GstElement* element, gpointer pipeline) {
  if (is_pngdec(element)) {
    const Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_BUFFER, refuse_deep_rgb, nullptr, nullptr);
  }
  if (!is_of_libav(element) ||
      g_object_class_find_property(G_OBJECT_GET_CLASS(element), "direct-rendering") == nullptr)
    return;
  const Owned<GstPad> pad(gst_element_get_static_pad(element, "sink"));
  if (gpointer palette = g_object_get_data(G_OBJECT(pipeline), kPalette); palette != nullptr)
    gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, replace_palette, palette, nullptr);
  gst_pad_add_probe(pad.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, allow_direct_rendering, nullptr, nullptr);
}

/// "ffv1" of avdec_ffv1. The plugin calls one decoder in another way, and one of GStreamer's own is left out
/// too.
std::string name_in_libav(GstElementFactory* factory) {
  constexpr std::string_view kPrefix = "avdec_";
  std::string name = GST_OBJECT_NAME(factory);
  if (name.starts_with(kPrefix)) name.erase(0, kPrefix.size());
  return name == "h265" ? "hevc" : name == kPng ? "png" : name;
}

/// An element that makes wrong samples of some streams, without a word, and libav's that makes the right
/// ones.
struct PassedOver {
  std::string_view element, type;
  const char* better;
};
constexpr std::array kPassedOver{
    // Pictures in a film that say their colours in boxes of their own (ISO/IEC 15444-1, annex I), which these
    // two cut off: palettes, and what is YCbCr.
    PassedOver{"jpeg2000parse", "image/x-j2c", "avdec_jpeg2000"},
    PassedOver{"openjpegdec", "image/x-j2c", "avdec_jpeg2000"},
};

bool is_passed_over(std::string_view element, const GstStructure* caps) {
  return std::any_of(kPassedOver.begin(), kPassedOver.end(), [&](const PassedOver& one) {
    if (one.element != element || one.type != gst_structure_get_name(caps) ||
        gst_structure_has_field(caps, "colorspace") != FALSE)
      return false;
    const Owned<GstElementFactory> better(gst_element_factory_find(one.better));
    return better != nullptr;
  });
}

constexpr const char* kLeftOut = "contorno-left-out-decoder";

/// What a decodebin does with a pad for which it would try `factory`: GstAutoplugSelectResult, which has no
/// header.
gint on_choice(GstElement*, GstPad*, GstCaps* caps, GstElementFactory* factory, gpointer pipeline) {
  constexpr gint kTry = 0, kExpose = 1, kSkip = 2;
  const auto* left_out = static_cast<const char*>(g_object_get_data(G_OBJECT(pipeline), kLeftOut));
  const std::string_view element = GST_OBJECT_NAME(factory);
  const bool deep = element.starts_with("avdec_") || element == kPng;
  if (left_out != nullptr && deep && name_in_libav(factory) == left_out) return kExpose;
  return is_passed_over(element, gst_caps_get_structure(caps, 0)) ? kSkip : kTry;
}

void on_decodebin(GstBin*, GstBin*, GstElement* element, gpointer pipeline) {
  if (g_signal_lookup("autoplug-select", G_OBJECT_TYPE(element)) != 0)
    g_signal_connect(element, "autoplug-select", G_CALLBACK(on_choice), pipeline);
}

/// Whether a decoder got caps, and has none for what it makes.
bool has_no_output(GstElement* decoder) {
  const Owned<GstPad> in(gst_element_get_static_pad(decoder, "sink"));
  const Owned<GstPad> out(gst_element_get_static_pad(decoder, "src"));
  return in && out && Owned<GstCaps>(gst_pad_get_current_caps(in.get())) &&
         !Owned<GstCaps>(gst_pad_get_current_caps(out.get()));
}

/// Whether it refused a picture because of that. Nobody says so on the bus where all of the stream has been
/// read by then.
bool refused_picture(GstElement* decoder) {
  const Owned<GstPad> in(gst_element_get_static_pad(decoder, "sink"));
  const Owned<GstPad> before(in ? gst_pad_get_peer(in.get()) : nullptr);
  return before && gst_pad_get_last_flow_return(before.get()) == GST_FLOW_NOT_NEGOTIATED;
}

/// libav's name of a decoder of `pipeline` for which `is_meant` is true; empty when there is none.
template <class IsMeant>
std::string find_decoder(GstElement* pipeline, const IsMeant& is_meant) {
  struct Search {
    const IsMeant& is_meant;
    std::string name;
  } search{is_meant, {}};
  const auto look = [](const GValue* item, gpointer data) {
    auto* element = GST_ELEMENT(g_value_get_object(item));
    auto& into = *static_cast<Search*>(data);
    if ((is_of_libav(element) || is_pngdec(element)) && into.is_meant(element))
      into.name = name_in_libav(gst_element_get_factory(element));
  };
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  gst_iterator_foreach(elements, look, &search);
  gst_iterator_free(elements);
  return search.name;
}

}  // namespace

void guard_decoders(GstElement* pipeline) {
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_element), pipeline);
}

std::string nameless_decoder(GstElement* pipeline) {
  return find_decoder(pipeline, [](GstElement* one) { return has_no_output(one) && refused_picture(one); });
}

std::string decoder_without_output(GstElement* pipeline) {
  return find_decoder(pipeline, has_no_output);
}

void leave_out_decoder(GstElement* pipeline, const std::string& name) {
  g_object_set_data_full(G_OBJECT(pipeline), kLeftOut, g_strdup(name.c_str()), g_free);
}

void prefer_libav_decoders(GstElement* pipeline) {
  g_signal_connect(pipeline, "deep-element-added", G_CALLBACK(on_decodebin), pipeline);
}

void give_palette(GstElement* pipeline, const std::string& palette) {
  g_object_set_data_full(G_OBJECT(pipeline), kPalette, gst_buffer_new_memdup(palette.data(), palette.size()),
                         [](gpointer buffer) { gst_buffer_unref(static_cast<GstBuffer*>(buffer)); });
}

}  // namespace contorno::gst
