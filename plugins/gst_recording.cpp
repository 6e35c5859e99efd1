#include "plugins/gst_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace contorno::gst {
namespace fs = std::filesystem;
namespace {

constexpr guint kBuffers = 4;                           // frames between the pipeline and the encoder
constexpr GstClockTime kFinishLimit = 60 * GST_SECOND;  // for the encoder to drain
constexpr std::int64_t kLongestStep = 10 * GST_SECOND;  // a longer gap is a broken clock
constexpr std::int64_t kSmallestStep = 1'000'000;       // ns; containers count in milliseconds

}  // namespace

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
  appsrc_ = make_element(bin, "appsrc");
  GstElement* convert = make_element(bin, "videoconvert");
  GstElement* encoder = make_element(bin, spec_of(codec).encoder);
  GstElement* muxer = make_element(bin, container.muxer);
  GstElement* out = make_element(bin, "fdsink");
  // The alpha of a finished picture says nothing: a lossless codec gets plain RGB, as the others do.
  const char* name = raw_format_of(format_);
  const Owned<GstCaps> caps = raw_caps(std::strcmp(name, "RGBA") == 0 ? "RGBx" : name, format_.width,
                                       format_.height, rate_numerator_, rate_denominator_);
  gst_video_info_from_caps(&info_, caps.get());
  g_object_set(appsrc_, "caps", caps.get(), "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, "block",
               FALSE, nullptr);
  g_object_set(out, "fd", file_.descriptor(), "sync", FALSE, "async", FALSE, nullptr);
  set_up_encoder(encoder, codec, quality,
                 static_cast<double>(format_.width) * format_.height * rate_numerator_ / rate_denominator_);
  link({appsrc_, convert, encoder, muxer, out});
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
  const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
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
  const auto message = pop_error(bus_.get());
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const fs::path part = file_.keep_unfinished();
  const std::string reason =
      message ? to_error(message.get(), path().string()).what() : path().string() + ": the encoder stopped";
  throw Error(ExitCode::Io, fmt::format("{}; what was written is in {}", reason, part.string()));
}

Recording::~Recording() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (bus_) gst_bus_set_sync_handler(bus_.get(), nullptr, nullptr, nullptr);
  if (pool_) gst_buffer_pool_set_active(pool_.get(), FALSE);
}

}  // namespace contorno::gst
