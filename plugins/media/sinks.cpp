// The declarations of the sinks video, images and preview. The module gst has what they make.
#include <utility>
#include <vector>

#include "plugins/media/module.h"

namespace contorno {
namespace {

/// Calls `attempt()` with the module, or reports as a fault of `param` that there is none.
template <class Attempt>
void try_with_module(const ParamTrial& trial, std::string_view param, const Attempt& attempt) {
  const MediaModule* module = nullptr;
  if (trial.run(param, [&] { module = &media_module(); })) attempt(*module);
}

ParamDeclaration video_sink_params() {
  using P = VideoSinkParams;
  std::vector<std::pair<std::string, Codec>> words{{"auto", Codec::Auto}};
  for (const CodecName& codec : kCodecNames) words.emplace_back(codec.name, codec.codec);
  std::vector<std::pair<std::string, Encoder>> encoders{{"auto", Encoder::Auto}};
  for (const EncoderName& one : kEncoderNames) encoders.emplace_back(one.name, one.encoder);
  ParamList<P> list;
  list.required_text(
          "path", &P::path,
          "File to write, in the output folder; the extension (mkv, webm, avi, ogv, mov, mp4) says how.")
      .choice("codec", &P::codec, std::move(words), "How pictures are compressed; png loses nothing.")
      .choice(
          "encoder", &P::encoder, std::move(encoders),
          "Who compresses them: x264 is faster than the usual encoder of h264; nvidia and va are graphics "
          "cards.")
      .integer("quality", &P::quality, 1, 100, Unit::None, "Better and larger with higher numbers.");
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    try_with_module(trial, "path", [&](const MediaModule& module) { module.try_video_sink(params, trial); });
  });
}

ParamDeclaration images_sink_params() {
  using P = ImagesSinkParams;
  ParamList<P> list;
  list.required_text(
          "path", &P::path,
          "Files to write, in the output folder, with {frame}, {frame:06} or {name}; .png or .jpg.")
      .integer("every", &P::every, 1, kUnbounded, Unit::Frames, "Every n-th frame is written.")
      .integer("first", &P::first, 0, kUnbounded, Unit::Frames, "Frames left out at the beginning.")
      .integer("limit", &P::limit, 0, kUnbounded, Unit::Frames, "Most files to write; 0 writes all.")
      .integer("compression", &P::compression, 0, 9, Unit::None,
               "PNG: smaller and slower with higher numbers.")
      .integer("quality", &P::quality, 1, 100, Unit::None, "JPEG: better and larger with higher numbers.")
      .flag("objects", &P::objects,
            "Instead a picture of each object that the step objects follows, cut out of the frame where it "
            "was seen best; {name} is what it is called and its id, as fruit-7.")
      .integer("around", &P::around, 0, 1024, Unit::Pixels,
               "Of a picture of an object: what is left around its outline.");
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    try_with_module(trial, "path", [&](const MediaModule& module) { module.try_images_sink(params, trial); });
  });
}

ParamDeclaration preview_sink_params() {
  ParamList<PreviewParams> list;
  list.text("title", &PreviewParams::title, "Goes before the program's name in the name of the window.");
  return declare(std::move(list));
}

}  // namespace

const SinkType& video_sink() {
  static const SinkType type{
      .name = "video",
      .summary = "Writes the pictures to a video file.",
      .input = PortType::Image,
      .params = video_sink_params(),
      .example = "sinks:\n  - type: video\n    path: overlay.mkv\n",
      .make = [](const ParamSet& set) { return media_module().make_video_sink(set.as<VideoSinkParams>()); },
  };
  return type;
}

const SinkType& images_sink() {
  static const SinkType type{
      .name = "images",
      .summary = "Writes pictures to PNG or JPEG files, one a frame or one an object.",
      .input = PortType::Image,
      .params = images_sink_params(),
      .example = "sinks:\n  - type: images\n    path: overlay/{frame:06}.png\n    every: 10\n",
      .make = [](const ParamSet& set) { return media_module().make_images_sink(set.as<ImagesSinkParams>()); },
  };
  return type;
}

const SinkType& preview_sink() {
  static const SinkType type{
      .name = "preview",
      .summary = "Shows the pictures in a window while they come; never slows the pipeline.",
      .input = PortType::Image,
      .params = preview_sink_params(),
      .example = "sinks:\n  - type: preview\n",
      .make = [](const ParamSet& set) { return media_module().make_preview_sink(set.as<PreviewParams>()); },
  };
  return type;
}

}  // namespace contorno
