#include "plugins/gst/codecs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

namespace contorno::gst {
namespace {

constexpr int kVp8Speed = -16;        // fixed; positive speeds change with the load, and so do the bytes
constexpr unsigned kMostThreads = 4;  // libvpx threads spin: more than idle cores make it slower, not faster
constexpr guint kFragmentMs = 250;    // what a killed recording may lose of its end
constexpr double kMostH264Bits =
    2e8;  // a second; openh264 refuses more than the highest level of H.264 allows

constexpr std::array kCodecs{
    CodecSpec{Codec::Vp8, "video/x-vp8", "vp8enc"},
    CodecSpec{Codec::Mjpeg, "image/jpeg", "jpegenc"},
    CodecSpec{Codec::Png, "image/png", "pngenc"},
    CodecSpec{Codec::Theora, "video/x-theora", "theoraenc", nullptr, 1, 18},
    // Two colour samples a pixel pair: the format cannot say an odd side.
    CodecSpec{Codec::H264, "video/x-h264", "openh264enc", "h264parse", 2},
};

const char* element_of(Encoder encoder, Codec codec) {
  switch (encoder) {
    case Encoder::Auto:
      return spec_of(codec).encoder;
    case Encoder::X264:
      return "x264enc";
    case Encoder::Nvidia:
      return "nvh264enc";
    case Encoder::Va:
      return "vah264enc";
  }
  throw InternalError("an encoder without element");
}

const std::vector<Container>& containers() {
  using enum Codec;
  static const std::vector<Container> list{
      {".mkv", "matroskamux", {Vp8, Mjpeg, Theora, H264}, Timing::Kept},
      {".webm", "webmmux", {Vp8}, Timing::Kept},
      {".avi", "avimux", {Mjpeg, Png, H264}, Timing::ConstantRate, Writing::GoesBack},
      {".ogv", "oggmux", {Theora}, Timing::ConstantRate},
      {".mov", "qtmux", {Mjpeg, Png, H264}, Timing::Kept},
      {".mp4", "mp4mux", {H264}, Timing::Kept},
  };
  return list;
}

/// Maps quality 1..100 to an encoder's scale, `worst` at 1 and `best` at 100.
int scale_quality(int quality, int worst, int best) {
  return worst + (best - worst) * (quality - 1) / 99;
}

/// openh264enc asks its library for frames that it never holds back, and that library prints an error for it
/// on standard error. So the end of the stream is passed on around the encoder, whose frames have all left it
/// by then.
void end_without_flush(GstElement* encoder) {
  const Owned<GstPad> in(gst_element_get_static_pad(encoder, "sink"));
  gst_pad_add_probe(
      in.get(), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
      [](GstPad* pad, GstPadProbeInfo* info, gpointer) {
        GstEvent* event = gst_pad_probe_info_get_event(info);
        if (GST_EVENT_TYPE(event) != GST_EVENT_EOS) return GST_PAD_PROBE_OK;
        const Owned<GstElement> element(gst_pad_get_parent_element(pad));
        const Owned<GstPad> out(gst_element_get_static_pad(element.get(), "src"));
        gst_pad_push_event(out.get(), event);  // takes it
        return GST_PAD_PROBE_HANDLED;
      },
      nullptr, nullptr);
}

/// Constant quality for the encoders of H.264. Of graphics cards' encoders properties differ from version to
/// version; those that one does not have are left out.
void set_up_h264(GstElement* encoder, std::string_view element, int quality, double bits_full, int threads) {
  const int quantiser = scale_quality(quality, 45, 8);
  const auto set = [&](const char* name, const std::string& value) {
    if (g_object_class_find_property(G_OBJECT_GET_CLASS(encoder), name) != nullptr)
      gst_util_set_object_arg(G_OBJECT(encoder), name, value.c_str());
  };
  if (element == "openh264enc") {
    // Constant quality up to half a bit a pixel. Pictures that need more (noise) get less quality, because
    // openh264 fails at those that need more than raw ones. What saves bits where the eye does not look
    // would do so at thin contour lines too.
    gst_util_set_object_arg(G_OBJECT(encoder), "rate-control", "quality");
    gst_util_set_object_arg(G_OBJECT(encoder), "complexity", "low");
    g_object_set(encoder, "qp-min", static_cast<guint>(quantiser), "bitrate",
                 static_cast<guint>(std::clamp(bits_full * 0.5, 1e4, kMostH264Bits)), "background-detection",
                 FALSE, "adaptive-quantization", FALSE, nullptr);
    end_without_flush(encoder);
  } else if (element == "x264enc") {
    set("speed-preset", "ultrafast");
    set("pass", "quant");
    g_object_set(encoder, "quantizer", static_cast<guint>(quantiser), "threads", static_cast<guint>(threads),
                 "bframes", 0U, "rc-lookahead", 0, "key-int-max", 120U, nullptr);
  } else {
    const std::string value = std::to_string(quantiser);
    for (const char* name : {"rc-mode", "rate-control"})
      set(name, element == "nvh264enc" ? "constqp" : "cqp");
    for (const char* name : {"qp-const", "qp-const-i", "qp-const-p", "qp-i", "qp-p", "qpi", "qpp"})
      set(name, value);
    set("bframes", "0");
    set("b-frames", "0");
    set("target-usage", "7");
  }
}

}  // namespace

const CodecSpec& spec_of(Codec codec) {
  return *std::find_if(kCodecs.begin(), kCodecs.end(), [&](const CodecSpec& s) { return s.codec == codec; });
}

const char* name_of(Codec codec) {
  return std::find_if(kCodecNames.begin(), kCodecNames.end(),
                      [&](const CodecName& one) { return one.codec == codec; })
      ->name;
}

const Container& container_of(const std::string& path) {
  std::string extension = std::filesystem::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), g_ascii_tolower);
  std::string allowed;
  for (const Container& container : containers()) {
    if (container.extension == extension) return container;
    allowed += (allowed.empty() ? "" : ", ") + std::string(container.extension);
  }
  throw Error(ExitCode::BadConfig, fmt::format("path is '{}', allowed are the extensions {}", path, allowed));
}

namespace {

/// `given` says what asks for the codec, in the words of the message that refuses it.
Codec codec_for(const Container& container, Codec wanted, const std::string& given) {
  const auto& fitting = container.codecs;
  if (wanted == Codec::Auto) {
    const auto found = std::find_if(fitting.begin(), fitting.end(),
                                    [](Codec codec) { return has_element(spec_of(codec).encoder); });
    return found == fitting.end() ? fitting.front() : *found;
  }
  if (std::find(fitting.begin(), fitting.end(), wanted) != fitting.end()) return wanted;
  std::string allowed;
  for (const Codec codec : fitting)
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", name_of(codec));
  throw Error(ExitCode::BadConfig,
              fmt::format("{}, allowed in a {} file: auto, {}", given, container.extension, allowed));
}

}  // namespace

Encoding encoding_for(const Container& container, Codec codec, Encoder encoder) {
  std::string given = fmt::format("codec is {}", codec == Codec::Auto ? "auto" : name_of(codec));
  const auto* named = std::find_if(kEncoderNames.begin(), kEncoderNames.end(),
                                   [&](const EncoderName& one) { return one.encoder == encoder; });
  if (named != kEncoderNames.end()) {
    const auto writes = fmt::format("encoder is {}, which writes {}", named->name, name_of(named->codec));
    if (codec != Codec::Auto && codec != named->codec)
      throw Error(ExitCode::BadConfig, fmt::format("{}, but {}", writes, given));
    codec = named->codec, given = writes;
  }
  const Codec fitting = codec_for(container, codec, given);
  return {.codec = fitting, .element = element_of(encoder, fitting)};
}

void require_encoding(const Container& container, const Encoding& encoding) {
  for (const char* element : {encoding.element, spec_of(encoding.codec).parser, container.muxer})
    if (element != nullptr) require_element(element);
}

void require_target(const Container& container, const std::filesystem::path& path) {
  std::error_code error;
  if (container.writing == Writing::Forward || !std::filesystem::is_fifo(path, error)) return;
  std::string others;
  for (const Container& one : containers())
    if (one.writing == Writing::Forward)
      others += fmt::format("{}{}", others.empty() ? "" : ", ", one.extension);
  throw Error(ExitCode::CannotCreate,
              fmt::format("'{}' is a pipe, and a {} file is finished at its beginning, which a pipe has "
                          "handed on by then; {} can be written into one",
                          path.string(), container.extension, others));
}

void set_up_muxer(GstElement* muxer, Target target) {
  // An index only at the end would leave nothing that can be read when the program is killed or the disk is
  // full. So these formats are written in fragments. A file gets one common index of them at the end, in
  // place of the first; in a pipe each fragment keeps its own.
  const auto has = [&](const char* name) {
    return g_object_class_find_property(G_OBJECT_GET_CLASS(muxer), name) != nullptr;
  };
  if (has("fragment-mode")) {
    g_object_set(muxer, "fragment-duration", kFragmentMs, nullptr);
    gst_util_set_object_arg(G_OBJECT(muxer), "fragment-mode",
                            target == Target::Pipe ? "dash-or-mss" : "first-moov-then-finalise");
  }
  if (has("max-page-delay")) g_object_set(muxer, "max-page-delay", kFragmentMs * GST_MSECOND, nullptr);
}

void set_up_encoder(GstElement* encoder, const Encoding& encoding, int quality, double bits_full) {
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostThreads));
  switch (encoding.codec) {
    case Codec::Vp8:
      // Realtime mode with constant quality; the bit rate is only a ceiling. The quantiser may not go above
      // cq-level much, or fine contour lines smear.
      gst_util_set_object_arg(G_OBJECT(encoder), "end-usage", "cq");
      g_object_set(encoder, "deadline", gint64{1}, "cpu-used", kVp8Speed, "threads", threads, "cq-level",
                   scale_quality(quality, 60, 4), "min-quantizer", 2, "max-quantizer",
                   std::min(63, scale_quality(quality, 63, 14)), "keyframe-max-dist", 120, "lag-in-frames", 0,
                   "target-bitrate", static_cast<gint>(std::clamp(bits_full * 0.5, 1e6, 2e9)), nullptr);
      return;
    case Codec::Mjpeg:
      g_object_set(encoder, "quality", quality, nullptr);
      return;
    case Codec::Png:
      g_object_set(encoder, "compression-level", 3U, nullptr);
      return;
    case Codec::Theora:
      g_object_set(encoder, "quality", scale_quality(quality, 5, 63), "speed-level", 2, nullptr);
      return;
    case Codec::H264:
      set_up_h264(encoder, encoding.element, quality, bits_full, threads);
      return;
    case Codec::Auto:
      break;
  }
  throw InternalError("an encoder without settings");
}

}  // namespace contorno::gst
