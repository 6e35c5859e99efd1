#include <fmt/format.h>

#include "plugins/gst/media.h"
#include "plugins/gst/stream_source.h"
#include "plugins/gst/video_input.h"

namespace contorno {
namespace {

struct VideoSourceParams : Playback {
  std::string location, caps;
  std::int64_t limit = 0;
  bool loop = false;
  int timeout = 10'000;
  int latency = 200;
  int reconnect_attempts = 10;
};

std::unique_ptr<Source> make_video_source(const ParamSet& set) {
  const auto& params = set.as<VideoSourceParams>();
  const gst::VideoInput input(
      params.location, {.latency_ms = params.latency, .timeout_ms = params.timeout, .caps = params.caps});
  if (params.loop && !input.can_be_read_again())
    throw Error(ExitCode::BadConfig,
                fmt::format("{}: a pipe can be read only once, not in a loop", params.location));
  return std::make_unique<gst::StreamSource>(gst::StreamPlan{
      .build = [input](gst::FramePipeline& pipeline) { input.build(pipeline); },
      .subject = params.location,
      .description = "video " + params.location,
      .timeout_ms = params.timeout,
      .playback = params.playback(),
      .limit = params.limit,
      .loop = params.loop,
      .reconnect_attempts = input.is_rtsp() ? params.reconnect_attempts : 0,
      .file = input.file(),
  });
}

ParamDeclaration video_params() {
  using P = VideoSourceParams;
  ParamList<P> list;
  list.required_text("location", &P::location,
                     "Video file, pipe or - for standard input, or an address: rtsp://, http://, file://, "
                     "tcp://HOST:PORT, shm://SOCKET.")
      .text("caps", &P::caps,
            "Format of the frames in shared memory: "
            "video/x-raw,format=RGB,width=640,height=480,framerate=30/1.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most frames to deliver; 0 delivers all.")
      .flag("loop", &P::loop, "Begin again at the end, for ever or until limit.")
      .integer("timeout", &P::timeout, 0, 3'600'000, Unit::Milliseconds,
               "Longest wait for a frame; 0 waits for ever.")
      .integer("latency", &P::latency, 0, 60'000, Unit::Milliseconds,
               "Jitter buffer of an RTSP stream; less is quicker, more survives a worse network.")
      .integer("reconnect_attempts", &P::reconnect_attempts, 0, 1'000'000, Unit::None,
               "How often a lost RTSP stream is tried again, after 1, 2, 4, ... 30 s.");
  add_playback(list);
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
