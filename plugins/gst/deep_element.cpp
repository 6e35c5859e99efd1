#include "plugins/gst/deep_element.h"

#include <fmt/format.h>
#include <gst/video/gstvideodecoder.h>
#include <gst/video/video.h>

#include <cstring>
#include <mutex>
#include <utility>

#include "plugins/gst/deep/decoder.h"
#include "plugins/gst/element/colours.h"
#include "plugins/gst/elements.h"
#include "plugins/modules.h"

namespace contorno::gst {
namespace {

const DeepModule& deep_module() {
  return *static_cast<const DeepModule*>(open_module(kDeepModule));
}

struct DeepElement {
  GstVideoDecoder parent;
  std::string* codec;
  DeepDecoder* decoder;
  GstVideoCodecState* input;
  DeepSamples samples;  // samples and size of the caps that are set
  int width, height;
};
struct DeepElementClass {
  GstVideoDecoderClass parent_class;
};

// NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE(DeepElement, deep_element, GST_TYPE_VIDEO_DECODER)
// NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast)

DeepElement& element_of(gpointer object) {
  return *static_cast<DeepElement*>(object);
}

/// Runs `work`; an exception becomes an error on the bus.
template <class Result, class Work>
Result guarded(GstVideoDecoder* element, Result failed, const Work& work) noexcept {
  try {
    return work();
  } catch (const std::exception& error) {
    GST_ELEMENT_ERROR(element, STREAM, DECODE, ("%s", error.what()), (nullptr));
    return failed;
  }
}

GstVideoFormat video_format_of(DeepSamples samples) {
  constexpr bool kLittle = G_BYTE_ORDER == G_LITTLE_ENDIAN;
  switch (samples) {
    case DeepSamples::Grey:
      return kLittle ? GST_VIDEO_FORMAT_GRAY16_LE : GST_VIDEO_FORMAT_GRAY16_BE;
    case DeepSamples::Rgba:
      return kLittle ? GST_VIDEO_FORMAT_RGBA64_LE : GST_VIDEO_FORMAT_RGBA64_BE;
    case DeepSamples::Yuv444:
      return kLittle ? GST_VIDEO_FORMAT_Y444_16LE : GST_VIDEO_FORMAT_Y444_16BE;
  }
  throw InternalError("samples of no kind");
}

/// The colorimetry of a picture: what the container says, else what the stream says.
GstVideoColorimetry colours_of_picture(const DeepElement& self, const DeepPicture& picture) {
  GstVideoColorimetry colours = kUnknownColours;
  const char* told = gst_structure_get_string(gst_caps_get_structure(self.input->caps, 0), "colorimetry");
  if (told == nullptr || gst_video_colorimetry_from_string(&colours, told) == FALSE)
    colours = kUnknownColours;
  if (colours.matrix == GST_VIDEO_COLOR_MATRIX_UNKNOWN)
    colours.matrix = gst_video_color_matrix_from_iso(static_cast<guint>(picture.matrix));
  if (colours.range == GST_VIDEO_COLOR_RANGE_UNKNOWN && picture.range != 0)
    colours.range = picture.range == 2 ? GST_VIDEO_COLOR_RANGE_0_255 : GST_VIDEO_COLOR_RANGE_16_235;
  return colours;
}

void set_output(GstVideoDecoder* element, const DeepPicture& picture) {
  DeepElement& self = element_of(element);
  if (self.samples == picture.samples && self.width == picture.width && self.height == picture.height) return;
  GstVideoCodecState* state = gst_video_decoder_set_output_state(
      element, video_format_of(picture.samples), static_cast<guint>(picture.width),
      static_cast<guint>(picture.height), self.input);
  if (picture.samples != DeepSamples::Rgba) state->info.colorimetry = colours_of_picture(self, picture);
  gst_video_codec_state_unref(state);
  self.samples = picture.samples, self.width = picture.width, self.height = picture.height;
  if (!gst_video_decoder_negotiate(element))
    throw Error(ExitCode::BadData, "the next element takes no deep samples");
}

void copy_picture(const DeepPicture& picture, GstVideoFrame& to) {
  for (guint plane = 0; plane < GST_VIDEO_FRAME_N_PLANES(&to); ++plane) {
    auto* target = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&to, plane));
    const std::size_t bytes = static_cast<std::size_t>(picture.width) *
                              static_cast<std::size_t>(GST_VIDEO_FRAME_COMP_PSTRIDE(&to, plane));
    for (int y = 0; y < picture.height; ++y)
      std::memcpy(target + static_cast<std::ptrdiff_t>(y) * GST_VIDEO_FRAME_PLANE_STRIDE(&to, plane),
                  picture.planes[plane] + y * picture.pitches[plane], bytes);
  }
}

GstFlowReturn hand_on(GstVideoDecoder* element, const DeepPicture& picture) {
  GstVideoCodecFrame* frame = gst_video_decoder_get_frame(element, static_cast<int>(picture.number));
  if (frame == nullptr) return GST_FLOW_OK;  // its frame was flushed
  set_output(element, picture);
  if (const GstFlowReturn result = gst_video_decoder_allocate_output_frame(element, frame);
      result != GST_FLOW_OK) {
    gst_video_decoder_drop_frame(element, frame);
    return result;
  }
  GstVideoCodecState* state = gst_video_decoder_get_output_state(element);
  GstVideoFrame mapped;
  const bool maps = gst_video_frame_map(&mapped, &state->info, frame->output_buffer, GST_MAP_WRITE) != FALSE;
  gst_video_codec_state_unref(state);
  if (!maps) {
    gst_video_decoder_drop_frame(element, frame);
    throw Error(ExitCode::OutOfMemory, "no access to a picture's memory");
  }
  copy_picture(picture, mapped);
  gst_video_frame_unmap(&mapped);
  if (picture.damaged) GST_BUFFER_FLAG_SET(frame->output_buffer, GST_BUFFER_FLAG_CORRUPTED);
  return gst_video_decoder_finish_frame(element, frame);
}

GstFlowReturn hand_on_all(GstVideoDecoder* element) {
  GstFlowReturn result = GST_FLOW_OK;
  while (result == GST_FLOW_OK) {
    const std::optional<DeepPicture> picture = element_of(element).decoder->receive();
    if (!picture) break;
    result = hand_on(element, *picture);
  }
  return result;
}

/// Whatever comes; by itself the class asks what comes behind, which says nothing of what is compressed.
GstCaps* get_caps(GstVideoDecoder*, GstCaps* filter) {
  return filter != nullptr ? gst_caps_ref(filter) : gst_caps_new_any();
}

gboolean set_format(GstVideoDecoder* element, GstVideoCodecState* state) {
  return guarded(element, gboolean{FALSE}, [&] {
    DeepElement& self = element_of(element);
    GstMapInfo header{};
    const bool has_header =
        state->codec_data != nullptr && gst_buffer_map(state->codec_data, &header, GST_MAP_READ) != FALSE;
    delete std::exchange(self.decoder, nullptr);
    try {
      self.decoder =
          deep_module()
              .make_decoder(*self.codec, {header.data, header.size}, GST_VIDEO_INFO_WIDTH(&state->info),
                            GST_VIDEO_INFO_HEIGHT(&state->info))
              .release();
    } catch (...) {
      if (has_header) gst_buffer_unmap(state->codec_data, &header);
      throw;
    }
    if (has_header) gst_buffer_unmap(state->codec_data, &header);
    if (self.input != nullptr) gst_video_codec_state_unref(self.input);
    self.input = gst_video_codec_state_ref(state);
    self.width = self.height = 0;
    return gboolean{TRUE};
  });
}

GstFlowReturn handle_frame(GstVideoDecoder* element, GstVideoCodecFrame* frame) {
  const GstFlowReturn result = guarded(element, GST_FLOW_ERROR, [&] {
    GstMapInfo packet{};
    if (!gst_buffer_map(frame->input_buffer, &packet, GST_MAP_READ))
      throw Error(ExitCode::OutOfMemory, "no access to a packet's memory");
    std::string why;
    const bool key = !GST_BUFFER_FLAG_IS_SET(frame->input_buffer, GST_BUFFER_FLAG_DELTA_UNIT);
    const bool taken =
        element_of(element).decoder->send({packet.data, packet.size}, frame->system_frame_number, key, why);
    gst_buffer_unmap(frame->input_buffer, &packet);
    if (!taken)
      GST_ELEMENT_WARNING(element, STREAM, DECODE, ("a picture cannot be decoded: %s", why.c_str()),
                          (nullptr));
    return hand_on_all(element);
  });
  gst_video_codec_frame_unref(frame);
  return result;
}

GstFlowReturn drain(GstVideoDecoder* element) {
  return guarded(element, GST_FLOW_ERROR, [&] {
    DeepElement& self = element_of(element);
    if (self.decoder == nullptr) return GST_FLOW_OK;
    std::string why;
    self.decoder->send({}, 0, false, why);
    const GstFlowReturn result = hand_on_all(element);
    self.decoder->flush();
    return result;
  });
}

gboolean flush(GstVideoDecoder* element) {
  if (DeepDecoder* decoder = element_of(element).decoder; decoder != nullptr) decoder->flush();
  return TRUE;
}

gboolean stop(GstVideoDecoder* element) {
  DeepElement& self = element_of(element);
  delete std::exchange(self.decoder, nullptr);
  if (GstVideoCodecState* input = std::exchange(self.input, nullptr); input != nullptr)
    gst_video_codec_state_unref(input);
  return TRUE;
}

void set_property(GObject* object, guint, const GValue* value, GParamSpec*) {
  *element_of(object).codec = g_value_get_string(value);
}

void finalize(GObject* object) {
  delete element_of(object).codec;
  G_OBJECT_CLASS(deep_element_parent_class)->finalize(object);
}

void deep_element_init(DeepElement* self) {
  self->codec = new std::string;
  gst_video_decoder_set_packetized(&self->parent, TRUE);
}

void deep_element_class_init(DeepElementClass* type) {
  static GstStaticPadTemplate sink =
      GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
  static GstStaticPadTemplate source = GST_STATIC_PAD_TEMPLATE(
      "src", GST_PAD_SRC, GST_PAD_ALWAYS,
      GST_STATIC_CAPS("video/x-raw,format={GRAY16_LE,GRAY16_BE,RGBA64_LE,RGBA64_BE,Y444_16LE,Y444_16BE}"));
  auto* object = G_OBJECT_CLASS(type);
  auto* element = GST_ELEMENT_CLASS(type);
  auto* decoder = GST_VIDEO_DECODER_CLASS(type);
  object->set_property = set_property;
  object->finalize = finalize;
  g_object_class_install_property(
      object, 1,
      g_param_spec_string("codec", "codec", "libav's name of the decoder", "",
                          static_cast<GParamFlags>(G_PARAM_WRITABLE | G_PARAM_STATIC_STRINGS)));
  gst_element_class_add_static_pad_template(element, &sink);
  gst_element_class_add_static_pad_template(element, &source);
  gst_element_class_set_static_metadata(element, "Deep samples", "Codec/Decoder/Video",
                                        "Decodes samples that GStreamer has no name for", "contorno");
  decoder->getcaps = get_caps;
  decoder->set_format = set_format;
  decoder->handle_frame = handle_frame;
  decoder->drain = drain;
  decoder->finish = drain;
  decoder->flush = flush;
  decoder->stop = stop;
}

}  // namespace

void register_deep_decoder() {
  static std::once_flag once;
  std::call_once(once,
                 [] { gst_element_register(nullptr, kDeepDecoder, GST_RANK_NONE, deep_element_get_type()); });
}

}  // namespace contorno::gst
