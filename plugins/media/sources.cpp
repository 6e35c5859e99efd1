// The declarations of the sources video, camera, gst and test. The module gst has what they make.
#include <fmt/format.h>

#include <limits>
#include <vector>

#include "plugins/media/camera.h"
#include "plugins/media/login.h"
#include "plugins/media/module.h"

namespace contorno {
namespace {

/// What sources that may go away and come back have in common; `what` is what is opened again.
template <class P>
void add_reconnection(ParamList<P>& list, const std::string& what) {
  list.integer("timeout", &P::timeout, 0, 3'600'000, Unit::Milliseconds,
               "Longest wait for a frame; 0 waits for ever.")
      .integer(
          "reconnect_attempts", &P::reconnect_attempts, kReconnectForEver, 1'000'000, Unit::None,
          fmt::format("How often {} is opened again, after 1, 2, 4, ... 30 s; -1 tries for ever.", what));
}

ParamDeclaration video_source_params() {
  using P = VideoSourceParams;
  ParamList<P> list;
  list.required_text("location", &P::location,
                     "Video file, pipe or - for standard input, or an address: rtsp://, http://, file://, "
                     "tcp://HOST:PORT, shm://SOCKET.")
      .text("credentials", &P::credentials,
            "File with the login for an address, user=NAME and password=SECRET: a name in "
            "$CREDENTIALS_DIRECTORY, or a path with a '/'; empty: that of the address.")
      .text("caps", &P::caps,
            "Format of the frames in shared memory: "
            "video/x-raw,format=RGB,width=640,height=480,framerate=30/1.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most frames to deliver; 0 delivers all.")
      .flag("loop", &P::loop, "Begin again at the end, for ever or until limit.")
      .integer("latency", &P::latency, 0, 60'000, Unit::Milliseconds,
               "Jitter buffer of an RTSP stream; less is quicker, more survives a worse network.");
  add_reconnection(list, "an RTSP stream that was lost");
  add_playback(list);
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    if (!params.credentials.empty())
      trial.run("credentials", [&] { stream_login(params.location, params.credentials); });
  });
}

ParamDeclaration camera_source_params() {
  using P = CameraParams;
  std::vector<std::pair<std::string, PixelFormat>> formats{{"auto", PixelFormat::Auto}};
  for (const PixelFormatName& one : kPixelFormatNames) formats.emplace_back(one.name, one.format);
  formats.insert(formats.end(), {{"yuyv", PixelFormat::Yuy2},
                                 {"gray", PixelFormat::Grey},
                                 {"gray16", PixelFormat::Grey16},
                                 {"mjpg", PixelFormat::Mjpeg},
                                 {"jpeg", PixelFormat::Mjpeg}});
  ParamList<P> list;
  list.text(
          "device", &P::device,
          "The camera: a Video4Linux device, or the serial number or bus path that 'contorno doctor' shows.")
      .integer("width", &P::width, 0, kMaxVideoSide, Unit::Pixels,
               "Width to ask for; 0 leaves it to the camera.")
      .integer("height", &P::height, 0, kMaxVideoSide, Unit::Pixels,
               "Height to ask for; 0 leaves it to the camera.")
      .number("framerate", &P::framerate, 0, 10'000, Unit::PerSecond,
              "Frames a second to ask for; 0 leaves it to the camera.")
      .choice("pixel_format", &P::pixel_format, formats,
              "How the pictures are to be sent; auto leaves it to the camera.")
      .number("exposure", &P::exposure, 0, 3'600'000, Unit::Milliseconds,
              "Exposure time, which is then no longer automatic; 0 leaves it as it is set.")
      .integer("gain", &P::gain, -1, std::numeric_limits<int>::max(), Unit::None,
               "Gain as the camera counts it, which is then no longer automatic; -1 leaves it as it is set.")
      .text("controls", &P::controls,
            "Other controls of the camera, NAME=VALUE with blanks between them: power_line_frequency=1 "
            "zoom_absolute=150.");
  add_reconnection(list, "a camera that was unplugged, failed or fell silent");
  return declare(std::move(list), [](const CameraParams& params, const ParamTrial& trial) {
    trial.run("controls", [&] { parse_controls(params.controls); });
  });
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

/// What the declaration itself can say of a source gst; the rest asks GStreamer.
bool names_one_source(const GstSourceParams& params, const ParamTrial& trial) {
  const auto refuse = [&](const char* param, const char* sentence) {
    trial.refuse(param, ExitCode::BadConfig, sentence);
    return false;
  };
  if (params.element.empty() && params.launch.empty())
    return refuse("type",
                  "what to read from is missing; name an element ('element: v4l2src'), or give a launch line "
                  "('launch: ...')");
  if (!params.element.empty() && !params.launch.empty())
    return refuse("launch", "both 'element' and 'launch' are given, allowed is one of them");
  if (params.element.empty() && !params.properties.empty())
    return refuse("properties", "'properties' are those of an 'element'; a launch line has its own");
  if (!params.launch.empty() && !may_launch())
    return refuse("launch",
                  "'launch' is a launch line, which may read and write everything that you may; if you trust "
                  "this graph, allow it with --allow-launch on the command line; one source can be named "
                  "without that by 'element' and 'properties'");
  return true;
}

ParamDeclaration gst_source_params() {
  using P = GstSourceParams;
  ParamList<P> list;
  list.text("element", &P::element, "A source of GStreamer by name, as gst-inspect-1.0 lists it: aravissrc.")
      .text("properties", &P::properties,
            "Properties of the element, NAME=VALUE with blanks between them and quotes around values that "
            "have some.")
      .text("launch", &P::launch,
            "In place of an element several, as for gst-launch-1.0, the last with an open output; only with "
            "--allow-launch.")
      .text("caps", &P::caps,
            "Format to ask for, as GStreamer writes caps: video/x-raw,width=1280,height=720; empty leaves it "
            "to the source.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most frames to deliver; 0 delivers all.");
  add_reconnection(list, "a source that fails, ends or falls silent");
  add_playback(list);
  return declare(std::move(list), [](const GstSourceParams& params, const ParamTrial& trial) {
    if (names_one_source(params, trial)) media_module().try_gst_source(params, trial);
  });
}

/// Not every host tries a graph's values before it makes a source of them.
std::unique_ptr<Source> make_named_source(const GstSourceParams& params) {
  const ParamTrial trial("", [](std::string_view, ExitCode code, const std::string& reason) {
    throw Error(code, "source gst: " + reason);
  });
  names_one_source(params, trial);
  return media_module().make_gst_source(params);
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

const SourceType& gst_source() {
  static const SourceType type{
      .name = "gst",
      .summary =
          "Frames of any source that GStreamer has: cameras with elements of their makers, for example.",
      .params = gst_source_params(),
      .input_param = "element",
      .example =
          "source:\n  type: gst\n  element: videotestsrc\n  properties: pattern=ball num-buffers=100\n",
      .make = [](const ParamSet& set) { return make_named_source(set.as<GstSourceParams>()); },
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
