// The declarations of the sources video, camera and test. The module gst has what they make.
#include <limits>

#include "plugins/media/module.h"

namespace contorno {
namespace {

ParamDeclaration video_source_params() {
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

ParamDeclaration camera_source_params() {
  using P = CameraParams;
  ParamList<P> list;
  list.text("device", &P::device, "The camera, a Video4Linux device.")
      .integer("width", &P::width, 0, kMaxVideoSide, Unit::Pixels,
               "Width to ask for; 0 leaves it to the camera.")
      .integer("height", &P::height, 0, kMaxVideoSide, Unit::Pixels,
               "Height to ask for; 0 leaves it to the camera.")
      .number("framerate", &P::framerate, 0, 10'000, Unit::PerSecond,
              "Frames a second to ask for; 0 leaves it to the camera.")
      .integer("timeout", &P::timeout, 0, 3'600'000, Unit::Milliseconds,
               "Longest wait for a frame; 0 waits for ever.");
  return declare(std::move(list));
}

ParamDeclaration test_source_params() {
  using P = TestParams;
  ParamList<P> list;
  list.text("pattern", &P::pattern,
            "A pattern of videotestsrc by name: smpte, ball, snow, circular, black, ...")
      .integer("width", &P::width, 1, kMaxVideoSide, Unit::Pixels, "Width of the picture.")
      .integer("height", &P::height, 1, kMaxVideoSide, Unit::Pixels, "Height of the picture.")
      .number("rate", &P::rate, 0.01, 10'000, Unit::PerSecond, "Frames a second.")
      .integer("frames", &P::frames, 0, std::numeric_limits<int>::max(), Unit::Frames,
               "How many frames come; 0 never ends.")
      .flag("live", &P::live, "Frames come at their rate, as from a camera, not as fast as they are taken.");
  return declare(std::move(list), [](const TestParams& params, const ParamTrial& trial) {
    trial.run("pattern", [&] { media_module().refuse_unknown_pattern(params); });
  });
}

}  // namespace

const SourceType& video_source() {
  static const SourceType type{
      .name = "video",
      .summary = "Frames of a video file or a network stream, decoded by GStreamer.",
      .params = video_source_params(),
      .input_param = "location",
      .example = "source:\n  type: video\n  location: clip.mp4\n",
      .make =
          [](const ParamSet& set) { return media_module().make_video_source(set.as<VideoSourceParams>()); },
  };
  return type;
}

const SourceType& camera_source() {
  static const SourceType type{
      .name = "camera",
      .summary = "Frames of a camera on this machine (Video4Linux).",
      .params = camera_source_params(),
      .input_param = "device",
      .example = "source:\n  type: camera\n  device: /dev/video0\n  width: 1280\n  height: 720\n",
      .make = [](const ParamSet& set) { return media_module().make_camera_source(set.as<CameraParams>()); },
  };
  return type;
}

const SourceType& test_source() {
  static const SourceType type{
      .name = "test",
      .summary = "A synthetic picture, the same in every run, for tests and machines without data.",
      .params = test_source_params(),
      .input_param = "pattern",
      .example = "source:\n  type: test\n  pattern: ball\n  frames: 100\n",
      .make = [](const ParamSet& set) { return media_module().make_test_source(set.as<TestParams>()); },
      .foretell = [](const ParamSet& set) { return media_module().foretell_test(set.as<TestParams>()); },
  };
  return type;
}

}  // namespace contorno
