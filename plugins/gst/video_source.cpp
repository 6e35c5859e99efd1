#include <fmt/format.h>

#include "plugins/gst/parts.h"
#include "plugins/gst/stream_source.h"
#include "plugins/gst/video_input.h"

namespace contorno::gst {

std::unique_ptr<Source> make_video_source(const VideoSourceParams& params) {
  const VideoInput input(params.location, {.latency_ms = params.latency,
                                           .timeout_ms = params.timeout,
                                           .caps = params.caps,
                                           .credentials = params.credentials});
  if (params.loop && !input.can_be_read_again())
    throw Error(ExitCode::BadConfig,
                fmt::format("{}: a pipe can be read only once, not in a loop", params.location));
  return std::make_unique<StreamSource>(StreamPlan{
      .build = [input](FramePipeline& pipeline) { input.build(pipeline); },
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

}  // namespace contorno::gst
