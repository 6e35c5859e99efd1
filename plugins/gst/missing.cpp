#include "plugins/gst/missing.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "plugins/gst/elements.h"

namespace contorno::gst {
namespace {

/// A package, a plugin that tells whether it is installed, and what it reads that no other of them does:
/// names of caps, as in the field Gstreamer-Decoders of Debian's list of packages.
struct DecoderPackage {
  const char *package, *plugin;
  std::string_view reads;
};
constexpr std::array kDecoderPackages{
    DecoderPackage{"gstreamer1.0-plugins-base", "ogg",
                   " application/ogg video/ogg video/x-theora video/x-ogm application/x-ogm-video "},
    DecoderPackage{
        "gstreamer1.0-plugins-good", "matroska",
        " video/x-matroska video/x-matroska-3d video/webm video/x-msvideo video/quicktime video/mj2 "
        "application/x-3gp video/x-flv video/x-fli video/x-dv multipart/x-mixed-replace image/jpeg "
        "image/png video/x-vp8 video/x-vp9 application/x-rtp "},
    DecoderPackage{"gstreamer1.0-plugins-bad", "mpegtsdemux",
                   " video/mpegts video/x-av1 video/x-cdxa video/x-vmnc image/webp image/x-exr image/svg "
                   "image/svg+xml application/x-hls application/dash+xml application/vnd.ms-sstr+xml "},
    DecoderPackage{
        "gstreamer1.0-plugins-ugly", "asf",
        " video/x-ms-asf application/vnd.rn-realmedia application/x-pn-realaudio application/x-rdt "},
    DecoderPackage{
        "gstreamer1.0-libav", "libav",
        " video/mpeg video/x-h261 video/x-h263 video/x-h264 video/x-h265 video/x-wmv video/x-msmpeg "
        "video/x-divx "
        "video/x-xvid video/x-prores video/x-dnxhd video/x-cineform video/x-ffv video/x-huffyuv "
        "video/x-lagarith "
        "video/x-flash-video video/x-flash-screen video/x-flash-screen2 video/x-cinepak video/x-indeo "
        "video/x-svq video/x-rle video/x-smc video/x-apple-video video/x-qdrw video/x-camtasia "
        "video/x-camstudio "
        "video/x-zmbv video/x-fraps video/x-mszh video/x-zlib video/x-pn-realvideo video/x-truemotion "
        "video/x-vp3 "
        "video/x-vp5 video/x-vp6 video/x-vp6-flash video/x-vp6-alpha video/x-4xm video/x-kmvc video/x-tscc "
        "video/sp5x video/x-aasc video/x-asus video/x-ati-vcr video/x-cavs video/x-dirac video/x-speedhq "
        "application/mxf application/gxf application/x-yuv4mpeg video/x-ivf image/gif image/tiff image/bmp "
        "image/jp2 image/x-j2c image/x-jpc "}};

/// Null where none is known that is not installed.
const char* package_that_reads(std::string_view caps_name) {
  const std::string word = fmt::format(" {} ", caps_name);
  for (const DecoderPackage& one : kDecoderPackages) {
    if (one.reads.find(word) == std::string_view::npos) continue;
    const Owned<GstPlugin> installed(gst_registry_find_plugin(gst_registry_get(), one.plugin));
    return installed ? nullptr : one.package;
  }
  return nullptr;
}

/// The name of the caps that nothing reads: "video/x-ms-asf"; empty where the message is of something else.
std::string missing_caps(const GstStructure* structure) {
  const GValue* detail = gst_structure_get_value(structure, "detail");
  if (detail == nullptr || !GST_VALUE_HOLDS_CAPS(detail)) return {};
  const GstCaps* caps = gst_value_get_caps(detail);
  if (caps == nullptr || gst_caps_is_empty(caps) || gst_caps_is_any(caps)) return {};
  return gst_structure_get_name(gst_caps_get_structure(caps, 0));
}

}  // namespace

std::string missing_part(GstMessage* message) {
  const GstStructure* structure = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT || !structure ||
      !gst_structure_has_name(structure, "missing-plugin"))
    return {};
  const char* given = gst_structure_get_string(structure, "name");
  std::string name = given ? given : "unnamed decoder";
  const std::string caps = missing_caps(structure);
  if (caps.starts_with("audio/")) return {};
  if (caps.empty()) return name;
  if (const char* package = package_that_reads(caps))
    return fmt::format("{}, which comes with the package {} (apt-get install {})", name, package, package);
  return fmt::format("{}, which no package of GStreamer has that is not installed; {}", name, kFfmpegMayRead);
}

}  // namespace contorno::gst
