#include "plugins/gst_codecs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <thread>

namespace contorno::gst {
namespace {

constexpr int kVp8Speed = -8;         // fixed; positive speeds change with the load, and so do the bytes
constexpr unsigned kMostThreads = 4;  // libvpx threads spin: more than idle cores make it slower, not faster

constexpr std::array kCodecs{
    CodecSpec{Codec::Vp8, "vp8", "vp8enc"},          CodecSpec{Codec::Mjpeg, "mjpeg", "jpegenc"},
    CodecSpec{Codec::Png, "png", "pngenc"},          CodecSpec{Codec::Theora, "theora", "theoraenc"},
    CodecSpec{Codec::Mpeg4, "mpeg4", "avenc_mpeg4"}, CodecSpec{Codec::H264, "h264", "x264enc"},
};

const std::vector<Container>& containers() {
  using enum Codec;
  static const std::vector<Container> list{
      {".mkv", "matroskamux", {Vp8, Mjpeg, Theora, Mpeg4, H264}},
      {".webm", "webmmux", {Vp8}},
      {".avi", "avimux", {Mjpeg, Png, Mpeg4, H264}},
      {".ogv", "oggmux", {Theora}},
      {".mov", "qtmux", {Mjpeg, Png, Mpeg4, H264}},
      {".mp4", "mp4mux", {H264, Mpeg4}},
  };
  return list;
}

/// Maps quality 1..100 to an encoder's scale, `worst` at 1 and `best` at 100.
int scale_quality(int quality, int worst, int best) {
  return worst + (best - worst) * (quality - 1) / 99;
}

}  // namespace

std::span<const CodecSpec> codecs() {
  return kCodecs;
}

const CodecSpec& spec_of(Codec codec) {
  return *std::find_if(kCodecs.begin(), kCodecs.end(), [&](const CodecSpec& s) { return s.codec == codec; });
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

Codec codec_for(const Container& container, Codec wanted) {
  const auto& fitting = container.codecs;
  if (wanted == Codec::Auto) {
    const auto found = std::find_if(fitting.begin(), fitting.end(),
                                    [](Codec codec) { return has_element(spec_of(codec).encoder); });
    return found == fitting.end() ? fitting.front() : *found;
  }
  if (std::find(fitting.begin(), fitting.end(), wanted) != fitting.end()) return wanted;
  std::string allowed;
  for (const Codec codec : fitting)
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", spec_of(codec).name);
  throw Error(ExitCode::BadConfig, fmt::format("codec is {}, allowed in a {} file: auto, {}",
                                               spec_of(wanted).name, container.extension, allowed));
}

void set_up_encoder(GstElement* encoder, Codec codec, int quality, double bits_full) {
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostThreads));
  switch (codec) {
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
    case Codec::Mpeg4:
      g_object_set(encoder, "bitrate",
                   static_cast<gint64>(bits_full * 0.001 * scale_quality(quality, 20, 500)), nullptr);
      return;
    case Codec::H264:
      gst_util_set_object_arg(G_OBJECT(encoder), "speed-preset", "veryfast");
      gst_util_set_object_arg(G_OBJECT(encoder), "pass", "qual");
      g_object_set(encoder, "quantizer", static_cast<guint>(scale_quality(quality, 45, 8)), nullptr);
      return;
    case Codec::Auto:
      break;
  }
  throw InternalError("an encoder without settings");
}

}  // namespace contorno::gst
