#include <fmt/format.h>

#include <utility>

#include "plugins/gst/elements.h"
#include "plugins/gst/parts.h"

namespace contorno::gst {

MediaReport media_report() {
  ensure_init();
  guint major = 0, minor = 0, micro = 0, nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  MediaReport report{.version = fmt::format("{}.{}.{}", major, minor, micro)};
  const auto add = [&](const char* name, const char* purpose, bool optional, const char* device = "") {
    report.elements.push_back({.name = name,
                               .package = std::string(package_of(name)),
                               .purpose = purpose,
                               .device = device,
                               .present = has_element(name),
                               .optional = optional});
  };
  for (const auto& [name, purpose] : {std::pair{"appsrc", "hands frames to GStreamer"},
                                      {"appsink", "takes frames from GStreamer"},
                                      {"uridecodebin", "opens video files and streams"},
                                      {"decodebin", "finds decoders"},
                                      {"videoconvert", "converts colours"},
                                      {"videoflip", "turns pictures upright"},
                                      {"videotestsrc", "makes the test picture"},
                                      {"jpegdec", "reads JPEG"},
                                      {"jpegenc", "writes JPEG and motion JPEG"},
                                      {"pngdec", "reads PNG"},
                                      {"pngenc", "writes PNG"},
                                      {"vp8enc", "writes VP8 video"},
                                      {"vp8dec", "reads VP8 video"},
                                      {"matroskamux", "writes .mkv"},
                                      {"matroskademux", "reads .mkv and .webm"},
                                      {"webmmux", "writes .webm"},
                                      {"avimux", "writes .avi"},
                                      {"avidemux", "reads .avi"},
                                      {"qtdemux", "reads .mp4 and .mov"},
                                      {"qtmux", "writes .mov"},
                                      {"mp4mux", "writes .mp4"},
                                      {"openh264enc", "writes H.264 video"},
                                      {"h264parse", "puts H.264 video into files"},
                                      {"avdec_h264", "reads H.264 video"}})
    add(name, purpose, false);
  for (const auto& [name, purpose] : {std::pair{"v4l2src", "reads cameras"},
                                      {"rtspsrc", "reads RTSP streams"},
                                      {"souphttpsrc", "reads http addresses"},
                                      {"avdec_gif", "reads GIF"},
                                      {"avdec_tiff", "reads TIFF"},
                                      {"theoraenc", "writes Theora video"},
                                      {"oggmux", "writes .ogv"},
                                      {"x264enc", "writes H.264 video, faster"},
                                      {"ximagesink", "shows the preview on X displays"}})
    add(name, purpose, true);
  add("nvh264enc", "writes H.264 video on Nvidia's cards", true,
      "a card of Nvidia's that encodes, and its driver");
  add("vah264enc", "writes H.264 video on cards with VA-API", true,
      "a card that encodes, and its VA-API driver");
  report.finds_contorno = has_element("contorno");
  return report;
}

}  // namespace contorno::gst
