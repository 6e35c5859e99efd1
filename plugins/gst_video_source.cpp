#include <fmt/format.h>

#include <filesystem>

#include "plugins/gst_media.h"
#include "plugins/gst_stream_source.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

struct VideoSourceParams {
  std::string location;
  std::int64_t start = 0, limit = 0;
  bool loop = false;
  int timeout = 10'000;
  int latency = 200;
  int reconnect_attempts = 10;
};

bool is_rtsp(const std::string& uri) {
  return uri.starts_with("rtsp");
}

/// The URI of `location`; throws Error(MissingInput) for a file that cannot be read.
std::string to_uri(const std::string& location) {
  std::string path = location;
  if (gst_uri_is_valid(location.c_str())) {
    if (!location.starts_with("file:")) return location;
    const gst::Owned<gchar> file(g_filename_from_uri(location.c_str(), nullptr, nullptr));
    if (!file) throw Error(ExitCode::MissingInput, fmt::format("'{}' is not the URI of a file", location));
    path = file.get();
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  const auto refuse = [&](const char* why) {
    return Error(ExitCode::MissingInput,
                 fmt::format("{}: {} (looked for from '{}')", path, why, fs::current_path(ignored).string()));
  };
  if (!fs::exists(status)) throw refuse("there is no such file");
  if (fs::is_directory(status)) throw refuse("is a folder; the source 'images' reads folders of pictures");
  if (!fs::is_regular_file(status)) throw refuse("is not a regular file");
  const gst::Owned<gchar> uri(gst_filename_to_uri(path.c_str(), nullptr));
  if (!uri) throw refuse("cannot be written as a URI");
  return uri.get();
}

/// Called for the element that fetches the stream; latency in ms comes as user data.
void on_source_setup(GstElement*, GstElement* source, gpointer latency) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "latency"))
    g_object_set(source, "latency", GPOINTER_TO_UINT(latency), nullptr);
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(source), "drop-on-latency"))
    g_object_set(source, "drop-on-latency", TRUE, nullptr);
}

void build(gst::FramePipeline& pipeline, const std::string& uri, int latency_ms) {
  GstElement* decode = pipeline.add("uridecodebin");
  GstElement* end = pipeline.add_frame_end();
  const gst::Owned<GstCaps> video_only(gst_caps_new_empty_simple("video/x-raw"));
  // Software decoders give the same bytes on every machine. Other streams, sound for example, stay unlinked.
  g_object_set(decode, "uri", uri.c_str(), "caps", video_only.get(), "force-sw-decoders", TRUE, nullptr);
  g_signal_connect(decode, "source-setup", G_CALLBACK(on_source_setup), GUINT_TO_POINTER(latency_ms));
  pipeline.link_when_decoded(decode, end);
}

std::unique_ptr<Source> make_video_source(const ParamSet& set) {
  const auto& params = set.as<VideoSourceParams>();
  gst::ensure_init();
  const std::string uri = to_uri(params.location);
  return std::make_unique<gst::StreamSource>(gst::StreamPlan{
      .build = [uri, latency = params.latency](gst::FramePipeline& p) { build(p, uri, latency); },
      .subject = params.location,
      .description = "video " + params.location,
      .timeout_ms = params.timeout,
      .start = params.start,
      .limit = params.limit,
      .loop = params.loop,
      .reconnect_attempts = is_rtsp(uri) ? params.reconnect_attempts : 0,
  });
}

ParamDeclaration video_params() {
  using P = VideoSourceParams;
  ParamList<P> list;
  list.required_text("location", &P::location,
                     "Video file, or a URI that GStreamer opens (rtsp://, http://, file://).")
      .integer("start", &P::start, 0, kUnbounded, Unit::Frames, "Frames left out at the beginning.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most frames to deliver; 0 delivers all.")
      .flag("loop", &P::loop, "Begin again at the end, for ever or until limit.")
      .integer("timeout", &P::timeout, 0, 3'600'000, Unit::Milliseconds,
               "Longest wait for a frame; 0 waits for ever.")
      .integer("latency", &P::latency, 0, 60'000, Unit::Milliseconds,
               "Jitter buffer of an RTSP stream; less is quicker, more survives a worse network.")
      .integer("reconnect_attempts", &P::reconnect_attempts, 0, 1'000'000, Unit::None,
               "How often a lost RTSP stream is tried again, after 1, 2, 4, ... 30 s.");
  return declare(std::move(list));
}

}  // namespace

const SourceType& video_source() {
  static const SourceType type{
      .name = "video",
      .summary = "Frames of a video file or a network stream, decoded by GStreamer.",
      .params = video_params(),
      .input_param = "location",
      .example = "source:\n  type: video\n  location: clip.mp4\n",
      .make = make_video_source,
  };
  return type;
}

}  // namespace contorno
