// The sink 'video': appsrc, videoconvert, encoder, muxer, fdsink. The encoder works in GStreamer's threads;
// frames come from a pool of a few buffers, and waiting for one of them is the flow control.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "plugins/gst_media.h"
#include "plugins/gst_pipeline.h"
#include "plugins/output_file.h"

namespace contorno {
namespace {
namespace fs = std::filesystem;

constexpr guint kBuffers = 4;                           // frames between the pipeline and the encoder
constexpr GstClockTime kFinishLimit = 60 * GST_SECOND;  // for the encoder to drain
constexpr std::int64_t kLongestStep = 10 * GST_SECOND;  // a longer gap is a broken clock
constexpr int kVp8Speed = -8;         // fixed; positive speeds change with the load, and so do the bytes
constexpr unsigned kMostThreads = 4;  // libvpx threads spin: more than idle cores make it slower, not faster
constexpr std::int64_t kSmallestStep = 1'000'000;  // ns; containers count in milliseconds

enum class Codec : std::uint8_t { Auto, Vp8, Mjpeg, Png, Theora, Mpeg4, H264 };

struct CodecSpec {
  Codec codec;
  const char* name;
  const char* encoder;
};
constexpr std::array kCodecs{
    CodecSpec{Codec::Vp8, "vp8", "vp8enc"},          CodecSpec{Codec::Mjpeg, "mjpeg", "jpegenc"},
    CodecSpec{Codec::Png, "png", "pngenc"},          CodecSpec{Codec::Theora, "theora", "theoraenc"},
    CodecSpec{Codec::Mpeg4, "mpeg4", "avenc_mpeg4"}, CodecSpec{Codec::H264, "h264", "x264enc"},
};

/// What a file name extension stands for; the first codec that is installed is what `auto` takes.
struct Container {
  std::string_view extension;
  const char* muxer;
  std::vector<Codec> codecs;
};

const std::vector<Container>& containers() {
  using enum Codec;
  static const std::vector<Container> list{
      {".mkv", "matroskamux", {Vp8, Mjpeg, Theora, Mpeg4, H264}},
      {".webm", "webmmux", {Vp8}},
      {".avi", "avimux", {Mjpeg, Png, Mpeg4, H264}},
      {".ogv", "oggmux", {Theora}},
      {".mov", "qtmux", {Mjpeg, Png, Mpeg4, H264}},
      {".mp4", "mp4mux", {H264, Mpeg4}},
  };
  return list;
}

struct VideoSinkParams {
  std::string path;
  Codec codec = Codec::Auto;
  int quality = 75;
};

const CodecSpec& spec_of(Codec codec) {
  return *std::find_if(kCodecs.begin(), kCodecs.end(), [&](const CodecSpec& s) { return s.codec == codec; });
}

const Container& container_of(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(), g_ascii_tolower);
  std::string allowed;
  for (const Container& container : containers()) {
    if (container.extension == extension) return container;
    allowed += (allowed.empty() ? "" : ", ") + std::string(container.extension);
  }
  throw Error(ExitCode::BadConfig, fmt::format("path is '{}', allowed are the extensions {}", path, allowed));
}

Codec codec_for(const Container& container, Codec wanted) {
  const auto& codecs = container.codecs;
  if (wanted == Codec::Auto) {
    const auto found = std::find_if(codecs.begin(), codecs.end(),
                                    [](Codec codec) { return gst::has_element(spec_of(codec).encoder); });
    return found == codecs.end() ? codecs.front() : *found;
  }
  if (std::find(codecs.begin(), codecs.end(), wanted) != codecs.end()) return wanted;
  std::string allowed;
  for (const Codec codec : codecs)
    allowed += fmt::format("{}{}", allowed.empty() ? "" : ", ", spec_of(codec).name);
  throw Error(ExitCode::BadConfig, fmt::format("codec is {}, allowed in a {} file: auto, {}",
                                               spec_of(wanted).name, container.extension, allowed));
}

/// Maps quality 1..100 to an encoder's scale, `worst` at 1 and `best` at 100.
int scale_quality(int quality, int worst, int best) {
  return worst + (best - worst) * (quality - 1) / 99;
}

void set_up_encoder(GstElement* encoder, Codec codec, int quality, double bits_full) {
  const int threads = static_cast<int>(std::clamp(std::thread::hardware_concurrency() / 2, 1U, kMostThreads));
  switch (codec) {
    case Codec::Vp8:
      // Realtime mode with constant quality; the bit rate is only a ceiling. The quantiser may not go above
      // cq-level much, or fine contour lines smear.
      gst_util_set_object_arg(G_OBJECT(encoder), "end-usage", "cq");
      g_object_set(encoder, "deadline", gint64{1}, "cpu-used", kVp8Speed, "threads", threads, "cq-level",
                   scale_quality(quality, 60, 4), "min-quantizer", 2, "max-quantizer",
                   std::min(63, scale_quality(quality, 63, 14)), "keyframe-max-dist", 120, "lag-in-frames", 0,
                   "target-bitrate", static_cast<gint>(std::clamp(bits_full * 0.5, 1e6, 2e9)), nullptr);
      return;
    case Codec::Mjpeg:
      g_object_set(encoder, "quality", quality, nullptr);
      return;
    case Codec::Png:
      g_object_set(encoder, "compression-level", 3U, nullptr);
      return;
    case Codec::Theora:
      g_object_set(encoder, "quality", scale_quality(quality, 5, 63), "speed-level", 2, nullptr);
      return;
    case Codec::Mpeg4:
      g_object_set(encoder, "bitrate",
                   static_cast<gint64>(bits_full * 0.001 * scale_quality(quality, 20, 500)), nullptr);
      return;
    case Codec::H264:
      gst_util_set_object_arg(G_OBJECT(encoder), "speed-preset", "veryfast");
      gst_util_set_object_arg(G_OBJECT(encoder), "pass", "qual");
      g_object_set(encoder, "quantizer", static_cast<guint>(scale_quality(quality, 45, 8)), nullptr);
      return;
    case Codec::Auto:
      break;
  }
  throw InternalError("an encoder without settings");
}

/// One file that is being written. Made and used by one thread; `failed_` is set from GStreamer's threads.
class Recording {
 public:
  Recording(fs::path path, Codec codec, const Container& container, int quality, const ImageFormat& format,
            const StreamFormat& stream);
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void write(std::int64_t pts_ns, const ImageView& image);
  void finish();
  std::uint64_t frames() const { return frames_; }
  std::uint64_t clamped() const { return clamped_; }
  const fs::path& path() const { return file_.path(); }

 private:
  static GstBusSyncReply on_message(GstBus*, GstMessage* message, gpointer self);
  void build(Codec codec, const Container& container, int quality);
  void make_pool(GstCaps* caps);
  GstClockTime next_pts(std::int64_t pts_ns);
  [[noreturn]] void fail();

  ImageFormat format_;
  int rate_numerator_, rate_denominator_;
  std::int64_t step_ns_;
  GstVideoInfo info_{};
  OutputFile file_;
  gst::Owned<GstElement> pipeline_;
  gst::Owned<GstBus> bus_;
  gst::Owned<GstBufferPool> pool_;
  GstElement* appsrc_ = nullptr;  // owned by pipeline_
  std::uint64_t frames_ = 0, clamped_ = 0;
  std::int64_t last_source_pts_ = 0, last_pts_ = 0;
};

Recording::Recording(fs::path path, Codec codec, const Container& container, int quality,
                     const ImageFormat& format, const StreamFormat& stream)
    : format_(format),
      rate_numerator_(stream.rate_numerator > 0 ? stream.rate_numerator : 25),
      rate_denominator_(stream.rate_numerator > 0 ? stream.rate_denominator : 1),
      step_ns_(std::max<std::int64_t>(
          kSmallestStep, static_cast<std::int64_t>(GST_SECOND) * rate_denominator_ / rate_numerator_)),
      file_(std::move(path), Completion::Rename) {
  build(codec, container, quality);
}

void Recording::build(Codec codec, const Container& container, int quality) {
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  GstBin* bin = GST_BIN(pipeline_.get());
  appsrc_ = gst::make_element(bin, "appsrc");
  GstElement* convert = gst::make_element(bin, "videoconvert");
  GstElement* encoder = gst::make_element(bin, spec_of(codec).encoder);
  GstElement* muxer = gst::make_element(bin, container.muxer);
  GstElement* out = gst::make_element(bin, "fdsink");
  // The alpha of a finished picture says nothing: a lossless codec gets plain RGB, as the others do.
  const char* name = gst::raw_format_of(format_);
  const gst::Owned<GstCaps> caps =
      gst::raw_caps(std::strcmp(name, "RGBA") == 0 ? "RGBx" : name, format_.width, format_.height,
                    rate_numerator_, rate_denominator_);
  gst_video_info_from_caps(&info_, caps.get());
  g_object_set(appsrc_, "caps", caps.get(), "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, "block",
               FALSE, nullptr);
  g_object_set(out, "fd", file_.descriptor(), "sync", FALSE, "async", FALSE, nullptr);
  set_up_encoder(encoder, codec, quality,
                 static_cast<double>(format_.width) * format_.height * rate_numerator_ / rate_denominator_);
  gst::link({appsrc_, convert, encoder, muxer, out});
  make_pool(caps.get());
  gst_bus_set_sync_handler(bus_.get(), on_message, this, nullptr);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail();
}

void Recording::make_pool(GstCaps* caps) {
  pool_.reset(gst_video_buffer_pool_new());
  GstStructure* config = gst_buffer_pool_get_config(pool_.get());
  gst_buffer_pool_config_set_params(config, caps, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info_)), kBuffers,
                                    kBuffers);
  if (!gst_buffer_pool_set_config(pool_.get(), config) || !gst_buffer_pool_set_active(pool_.get(), TRUE))
    throw Error(ExitCode::OutOfMemory,
                fmt::format("no memory for {} pictures of {}", kBuffers, describe(format_)));
}

GstBusSyncReply Recording::on_message(GstBus*, GstMessage* message, gpointer self) {
  const GstMessageType type = GST_MESSAGE_TYPE(message);
  // Whoever waits for a buffer would wait for ever.
  if (type == GST_MESSAGE_ERROR)
    gst_buffer_pool_set_flushing(static_cast<Recording*>(self)->pool_.get(), TRUE);
  if (type == GST_MESSAGE_ERROR || type == GST_MESSAGE_EOS) return GST_BUS_PASS;
  gst_message_unref(message);
  return GST_BUS_DROP;
}

/// Presentation time in the file: begins at 0, grows with the source's, and grows always.
GstClockTime Recording::next_pts(std::int64_t pts_ns) {
  if (frames_ > 0) {
    std::int64_t step = 0;
    const bool overflow = __builtin_sub_overflow(pts_ns, last_source_pts_, &step);
    if (overflow || step < kSmallestStep || step > kLongestStep) {
      step = step_ns_;
      ++clamped_;
    }
    last_pts_ += step;
  }
  last_source_pts_ = pts_ns;
  return static_cast<GstClockTime>(last_pts_);
}

void Recording::write(std::int64_t pts_ns, const ImageView& image) {
  GstBuffer* buffer = nullptr;
  if (gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, nullptr) != GST_FLOW_OK) fail();
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info_, buffer, GST_MAP_WRITE)) {
    gst_buffer_unref(buffer);
    throw Error(ExitCode::OutOfMemory, fmt::format("{}: no access to a picture's memory", path().string()));
  }
  auto* target = static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const std::ptrdiff_t pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  for (int y = 0; y < format_.height; ++y)
    std::memcpy(target + y * pitch, image.row<std::uint8_t>(y), format_.row_bytes());
  gst_video_frame_unmap(&frame);
  GST_BUFFER_PTS(buffer) = next_pts(pts_ns);
  GST_BUFFER_DURATION(buffer) = static_cast<GstClockTime>(step_ns_);
  if (gst_app_src_push_buffer(GST_APP_SRC(appsrc_), buffer) != GST_FLOW_OK) fail();
  ++frames_;
}

void Recording::finish() {
  gst_app_src_end_of_stream(GST_APP_SRC(appsrc_));
  const gst::Owned<GstMessage> message(gst_bus_timed_pop_filtered(
      bus_.get(), kFinishLimit, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (message && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
    gst_bus_post(bus_.get(), gst_message_ref(message.get()));
    fail();
  }
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (!message) {
    const fs::path part = file_.keep_unfinished();
    throw Error(ExitCode::Io,
                fmt::format("{}: the encoder did not finish within {} s; what it wrote is in {}",
                            path().string(), kFinishLimit / GST_SECOND, part.string()));
  }
  file_.complete();
}

void Recording::fail() {
  const auto message = gst::pop_error(bus_.get());
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const fs::path part = file_.keep_unfinished();
  const std::string reason = message ? gst::to_error(message.get(), path().string()).what()
                                     : path().string() + ": the encoder stopped";
  throw Error(ExitCode::Io, fmt::format("{}; what was written is in {}", reason, part.string()));
}

Recording::~Recording() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (bus_) gst_bus_set_sync_handler(bus_.get(), nullptr, nullptr, nullptr);
  if (pool_) gst_buffer_pool_set_active(pool_.get(), FALSE);
}

class VideoSink : public Sink {
 public:
  explicit VideoSink(const VideoSinkParams& params)
      : params_(params), container_(container_of(params.path)), codec_(codec_for(container_, params.codec)) {}

  void open(const SinkContext& context) override {
    const auto& format = std::get<ImageFormat>(context.format);
    if (recording_ && format == format_) return;
    gst::raw_format_of(format);  // refuses what cannot be written, before a file is made
    finish();
    format_ = format;
    recording_ = std::make_unique<Recording>(resolve_output(context.output_root, next_path()), codec_,
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
    if (!recording || recording->frames() == 0) return;
    recording->finish();
    summary_ += fmt::format("{}{} ({} frames, {})", summary_.empty() ? "" : "; ", recording->path().string(),
                            recording->frames(), spec_of(codec_).name);
    if (recording->clamped() > 0) summary_ += fmt::format(", {} timestamps corrected", recording->clamped());
  }

  std::string summary() const override { return summary_; }

 private:
  /// A file has one picture size: after a change a new one begins, overlay-2.mkv.
  std::string next_path() {
    if (++part_ == 1) return params_.path;
    const fs::path path(params_.path);
    return (path.parent_path() /
            fmt::format("{}-{}{}", path.stem().string(), part_, path.extension().string()))
        .string();
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
  for (const CodecSpec& codec : kCodecs) words.emplace_back(codec.name, codec.codec);
  ParamList<P> list;
  list.required_text(
          "path", &P::path,
          "File to write, in the output folder; the extension (mkv, webm, avi, ogv, mov, mp4) says how.")
      .choice("codec", &P::codec, std::move(words), "How pictures are compressed; png loses nothing.")
      .integer("quality", &P::quality, 1, 100, Unit::None, "Better and larger with higher numbers.");
  return declare(std::move(list));
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
