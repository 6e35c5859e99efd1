// The sink 'video': a Recording for every picture size that comes.
#include <fmt/format.h>

#include <memory>

#include "plugins/files/shared/output_register.h"
#include "plugins/files/shared/part_files.h"
#include "plugins/gst/media.h"
#include "plugins/gst/recording.h"

namespace contorno {
namespace {
using gst::Codec, gst::Container, gst::Recording;

struct VideoSinkParams {
  std::string path;
  Codec codec = Codec::Auto;
  int quality = 75;
};

class VideoSink : public Sink {
 public:
  explicit VideoSink(const VideoSinkParams& params)
      : params_(params),
        container_(gst::container_of(params.path)),
        codec_(gst::codec_for(container_, params.codec)) {
    gst::require_codec(container_, codec_);  // before the first frame is there
  }

  void open(const SinkContext& context) override {
    const auto& format = std::get<ImageFormat>(context.format);
    if (recording_ && format == format_) return;
    gst::raw_format_of(format);  // refuses what cannot be written, before a file is made
    finish();
    format_ = format;
    recording_ = std::make_unique<Recording>(open_output(context, next_path(), Completion::Recording), codec_,
                                             container_, params_.quality, format, context.stream);
  }

  void write(const FrameInfo& info, const Value& value) override {
    if (!recording_) throw InternalError("the sink 'video' is not open");
    try {
      recording_->write(info.pts_ns, std::get<ImageView>(value));
    } catch (...) {
      recording_.reset();
      throw;
    }
  }

  void finish() override {
    // A recording that failed is gone at once: nobody finishes it again.
    const std::unique_ptr<Recording> recording = std::move(recording_);
    if (!recording) return;
    if (recording->frames() == 0) {
      --part_;  // there is no file of this name
      return;
    }
    recording->finish();
    summary_ +=
        fmt::format("{}{} ({} frames, {}){}", summary_.empty() ? "" : "; ", recording->path().string(),
                    recording->frames(), gst::spec_of(codec_).name, recording->differences());
  }

  std::string summary() const override { return summary_; }

 private:
  /// A file has one picture size: after a change a new one begins, overlay-2.mkv.
  std::string next_path() {
    if (++part_ == 1) return params_.path;
    return numbered(params_.path, static_cast<unsigned>(part_)).string();
  }

  VideoSinkParams params_;
  const Container& container_;
  Codec codec_;
  ImageFormat format_;
  std::unique_ptr<Recording> recording_;
  std::string summary_;
  int part_ = 0;
};

ParamDeclaration video_params() {
  using P = VideoSinkParams;
  std::vector<std::pair<std::string, Codec>> words{{"auto", Codec::Auto}};
  for (const gst::CodecSpec& codec : gst::codecs()) words.emplace_back(codec.name, codec.codec);
  ParamList<P> list;
  list.required_text(
          "path", &P::path,
          "File to write, in the output folder; the extension (mkv, webm, avi, ogv, mov, mp4) says how.")
      .choice("codec", &P::codec, std::move(words), "How pictures are compressed; png loses nothing.")
      .integer("quality", &P::quality, 1, 100, Unit::None, "Better and larger with higher numbers.");
  return declare(std::move(list), [](const P& params, const ParamTrial& trial) {
    gst::ensure_init();
    const Container* container = nullptr;
    if (!trial.run("path", [&] { container = &gst::container_of(params.path); })) return;
    if (try_output_path(trial, params.path, PathUse::Literal))
      trial.run("path",
                [&] { gst::require_target(*container, resolve_output(trial.output_root(), params.path)); });
    trial.run("codec", [&] { gst::require_codec(*container, gst::codec_for(*container, params.codec)); });
  });
}

}  // namespace

const SinkType& video_sink() {
  static const SinkType type{
      .name = "video",
      .summary = "Writes the pictures to a video file.",
      .input = PortType::Image,
      .params = video_params(),
      .example = "sinks:\n  - type: video\n    path: overlay.mkv\n",
      .make =
          [](const ParamSet& params) {
            gst::ensure_init();
            return std::make_unique<VideoSink>(params.as<VideoSinkParams>());
          },
  };
  return type;
}

}  // namespace contorno
