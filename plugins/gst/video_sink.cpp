// The sink 'video': a Recording for every picture size that comes.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "plugins/files/shared/output_register.h"
#include "plugins/files/shared/part_files.h"
#include "plugins/gst/parts.h"
#include "plugins/gst/recording.h"

namespace contorno::gst {
namespace {

class VideoSink : public Sink {
 public:
  explicit VideoSink(const VideoSinkParams& params)
      : params_(params),
        container_(container_of(params.path)),
        encoding_(encoding_for(container_, params.codec, params.encoder)) {
    require_encoding(container_, encoding_);  // before the first frame is there
  }

  void open(const SinkContext& context) override {
    const auto& format = std::get<ImageFormat>(context.format);
    const std::pair pixel(context.stream.pixel_width, context.stream.pixel_height);
    if (recording_ && format == format_ && pixel == pixel_) return;
    raw_format_of(format);  // refuses what cannot be written, before a file is made
    finish();
    format_ = format;
    pixel_ = pixel;
    recording_ = std::make_unique<Recording>(open_output(context, next_path(), Completion::Recording),
                                             encoding_, container_, params_.quality, format, context.stream);
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
    summary_ += fmt::format("{}{} ({} frames, {} by {}, {:.1f} ms a frame){}", summary_.empty() ? "" : "; ",
                            recording->path().string(), recording->frames(), name_of(encoding_.codec),
                            encoding_.element, recording->encoding_ms(), recording->differences());
  }

  std::string summary() const override { return summary_; }

 private:
  /// A file has one picture size and one shape of pixels: after a change a new one begins, overlay-2.mkv.
  std::string next_path() {
    if (++part_ == 1) return params_.path;
    return numbered(params_.path, static_cast<unsigned>(part_)).string();
  }

  VideoSinkParams params_;
  const Container& container_;
  Encoding encoding_;
  ImageFormat format_;
  std::pair<int, int> pixel_;  ///< its width to its height
  std::unique_ptr<Recording> recording_;
  std::string summary_;
  int part_ = 0;
};

}  // namespace

void try_video_sink(const VideoSinkParams& params, const ParamTrial& trial) {
  ensure_init();
  const Container* container = nullptr;
  if (!trial.run("path", [&] { container = &container_of(params.path); })) return;
  if (try_output_path(trial, params.path, PathUse::Literal))
    trial.run("path", [&] { require_target(*container, resolve_output(trial.output_root(), params.path)); });
  const char* to_blame = params.encoder == Encoder::Auto ? "codec" : "encoder";
  trial.run(to_blame,
            [&] { require_encoding(*container, encoding_for(*container, params.codec, params.encoder)); });
}

std::unique_ptr<Sink> make_video_sink(const VideoSinkParams& params) {
  ensure_init();
  return std::make_unique<VideoSink>(params);
}

}  // namespace contorno::gst
