#include "plugins/gst/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "plugins/gst/element/colours.h"
#include "plugins/gst/i420.h"

namespace contorno::gst {
namespace fs = std::filesystem;
namespace {

constexpr guint kBuffers = 5;                           // frames between the pipeline and the encoder
constexpr GstClockTime kFinishLimit = 60 * GST_SECOND;  // for the encoder to drain
constexpr std::int64_t kLongestStep = 10 * GST_SECOND;  // a longer gap is a broken clock
constexpr std::int64_t kSmallestStep = 1'000'000;       // ns; containers count in milliseconds
constexpr std::array kRgbFormats{"RGB", "RGBx", "RGBA", "BGRA"};
constexpr int kUsualRate = 25, kHighestRate = 1000;  // frames a second

/// A side of the pictures in the file: as it is, or the next that codec and readers take.
int padded(int side, const CodecSpec& codec) {
  return (std::max(side, codec.smallest_side) + codec.granule - 1) / codec.granule * codec.granule;
}

/// The source's rate where it is known and possible. A stream of variable rate may claim its clock's.
std::pair<int, int> rate_of_stream(const StreamFormat& stream) {
  if (stream.rate_numerator <= 0 || stream.rate_denominator <= 0) return {kUsualRate, 1};
  if (stream.rate_numerator / stream.rate_denominator > kHighestRate) return {kHighestRate, 1};
  return {stream.rate_numerator, stream.rate_denominator};
}

/// Whether an encoder takes I420 and nothing else, as those of VP8 and openh264.
bool takes_only_i420(GstElement* encoder) {
  const Owned<GstPad> pad(gst_element_get_static_pad(encoder, "sink"));
  const Owned<GstCaps> caps(gst_pad_get_pad_template_caps(pad.get()));
  for (guint i = 0; i < gst_caps_get_size(caps.get()); ++i) {
    const char* format = gst_structure_get_string(gst_caps_get_structure(caps.get(), i), "format");
    if (format == nullptr || std::strcmp(format, "I420") != 0) return false;
  }
  return true;
}

/// Whether an encoder takes RGB, and makes YCbCr of it by itself where it needs that.
bool takes_rgb(GstElement* encoder) {
  const Owned<GstPad> pad(gst_element_get_static_pad(encoder, "sink"));
  const Owned<GstCaps> caps(gst_pad_get_pad_template_caps(pad.get()));
  return std::any_of(kRgbFormats.begin(), kRgbFormats.end(), [&](const char* format) {
    return gst_caps_can_intersect(caps.get(), raw_caps(format).get()) != FALSE;
  });
}

/// "2:4:0:0" for what players take films of a codec and a size for that say nothing.
Owned<gchar> colours_of_film(const CodecSpec& codec, int width, int height) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, GST_VIDEO_FORMAT_I420, static_cast<guint>(width),
                            static_cast<guint>(height));
  const GstVideoColorimetry colours = colours_of(info, kUnknownColours, codec.media_type);
  return Owned<gchar>(gst_video_colorimetry_to_string(&colours));
}

}  // namespace

Recording::Recording(OutputFile file, const Encoding& encoding, const Container& container, int quality,
                     const ImageFormat& format, const StreamFormat& stream)
    : format_(format),
      width_(padded(format.width, spec_of(encoding.codec))),
      height_(padded(format.height, spec_of(encoding.codec))),
      timing_(container.timing),
      rate_numerator_(rate_of_stream(stream).first),
      rate_denominator_(rate_of_stream(stream).second),
      pixel_width_(stream.pixel_width),
      pixel_height_(stream.pixel_height),
      step_ns_(std::max<std::int64_t>(
          kSmallestStep, static_cast<std::int64_t>(GST_SECOND) * rate_denominator_ / rate_numerator_)),
      file_(std::move(file)) {
  build(encoding, container, quality);
}

void Recording::build(const Encoding& encoding, const Container& container, int quality) {
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  GstBin* bin = GST_BIN(pipeline_.get());
  appsrc_ = make_element(bin, "appsrc");
  GstElement* convert = make_element(bin, "videoconvert");
  GstElement* filter = make_element(bin, "capsfilter");
  const char* parser_name = spec_of(encoding.codec).parser;
  GstElement* encoder = make_element(bin, encoding.element);
  GstElement* parser = parser_name ? make_element(bin, parser_name) : nullptr;
  GstElement* muxer = make_element(bin, container.muxer);
  GstElement* out = make_element(bin, "fdsink");
  const Owned<GstCaps> caps =
      raw_caps(buffer_format(encoder), width_, height_, rate_numerator_, rate_denominator_);
  gst_caps_set_simple(caps.get(), "pixel-aspect-ratio", GST_TYPE_FRACTION, pixel_width_, pixel_height_,
                      nullptr);
  const Owned<gchar> colours = colours_of_film(spec_of(encoding.codec), width_, height_);
  const Owned<GstCaps> encoded_caps(gst_caps_new_empty_simple("video/x-raw"));
  if (!takes_rgb(encoder)) {
    gst_caps_set_simple(encoded_caps.get(), "colorimetry", G_TYPE_STRING, colours.get(), nullptr);
    if (std::strcmp(buffer_format(encoder), "I420") == 0)
      gst_caps_set_simple(caps.get(), "colorimetry", G_TYPE_STRING, colours.get(), nullptr);
  }
  g_object_set(filter, "caps", encoded_caps.get(), nullptr);
  gst_video_info_from_caps(&info_, caps.get());
  g_object_set(appsrc_, "caps", caps.get(), "format", GST_FORMAT_TIME, "max-bytes", guint64{0}, "block",
               FALSE, nullptr);
  g_object_set(out, "fd", file_.descriptor(), "sync", FALSE, "async", FALSE, nullptr);
  set_up_encoder(encoder, encoding, quality,
                 static_cast<double>(width_) * height_ * rate_numerator_ / rate_denominator_);
  set_up_muxer(muxer, file_.is_regular() ? Target::File : Target::Pipe);
  GstElement* last = appsrc_;
  for (GstElement* next : {convert, filter, encoder, parser, muxer, out}) {
    if (next == nullptr) continue;
    link({last, next});
    last = next;
  }
  clock_.watch(convert, encoder);
  make_pool(caps.get());
  gst_bus_set_sync_handler(bus_.get(), on_message, this, nullptr);
  if (gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) fail();
}

/// The format of the buffers that go to the encoder.
const char* Recording::buffer_format(GstElement* encoder) const {
  const char* name = raw_format_of(format_);
  if (std::strcmp(name, "RGBA") != 0) return name;
  if (takes_only_i420(encoder) && width_ == format_.width && height_ == format_.height) return "I420";
  // The alpha of a finished picture says nothing: a lossless codec gets plain RGB, as the others do.
  return "RGBx";
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

/// The picture takes the nearest multiple of a frame's duration that no other has; those between repeat the
/// one before. So none is dropped, and the film is as long as the source.
GstClockTime Recording::take_slot(GstClockTime time) {
  const auto rate = static_cast<std::uint64_t>(rate_numerator_);
  const std::uint64_t span = GST_SECOND * static_cast<std::uint64_t>(rate_denominator_);
  const auto start_of = [&](std::uint64_t slot) { return gst_util_uint64_scale_round(slot, span, rate); };
  for (const std::uint64_t nearest = gst_util_uint64_scale_round(time, rate, span); next_slot_ < nearest;
       ++repeated_)
    push(copy_of_previous(), start_of(next_slot_++));
  const GstClockTime start = start_of(next_slot_++);
  if (start > time) latest_ = std::max(latest_, start - time);
  return start;
}

/// Copies the picture; its last column and row fill what the file's pictures have beyond it.
void Recording::copy_padded(const ImageView& image, std::uint8_t* target, std::ptrdiff_t pitch) const {
  const std::size_t bytes = format_.row_bytes();
  const auto pixel = static_cast<std::size_t>(format_.channels);
  for (int y = 0; y < height_; ++y) {
    std::uint8_t* row = target + y * pitch;
    std::memcpy(row, image.row<std::uint8_t>(std::min(y, format_.height - 1)), bytes);
    for (int x = format_.width; x < width_; ++x)
      std::memcpy(row + static_cast<std::size_t>(x) * pixel, row + bytes - pixel, pixel);
  }
}

/// A free buffer. The pool's own wait could not be ended when the encoder stands still, so it is asked again
/// and again.
Owned<GstBuffer> Recording::acquire() {
  constexpr std::chrono::milliseconds kStep(1);  // much shorter than an encoder takes for a picture
  GstBufferPoolAcquireParams parameters{};
  parameters.flags = GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
  GstBuffer* buffer = nullptr;
  const std::int64_t since = now_ns();
  for (;;) {
    const GstFlowReturn result = gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, &parameters);
    if (result == GST_FLOW_OK) return Owned<GstBuffer>(buffer);
    if (result != GST_FLOW_EOS || file_.patience().ends(since)) fail();
    std::this_thread::sleep_for(kStep);
  }
}

GstVideoFrame Recording::map(GstBuffer* buffer, GstMapFlags access) const {
  GstVideoFrame frame;
  if (!gst_video_frame_map(&frame, &info_, buffer, access))
    throw Error(ExitCode::OutOfMemory, fmt::format("{}: no access to a picture's memory", path().string()));
  return frame;
}

Owned<GstBuffer> Recording::copy_of_previous() {
  Owned<GstBuffer> buffer = acquire();
  GstVideoFrame source = map(previous_.get(), GST_MAP_READ), target = map(buffer.get(), GST_MAP_WRITE);
  gst_video_frame_copy(&target, &source);
  gst_video_frame_unmap(&target);
  gst_video_frame_unmap(&source);
  return buffer;
}

void Recording::push(Owned<GstBuffer> buffer, GstClockTime time) {
  GST_BUFFER_PTS(buffer.get()) = time;
  GST_BUFFER_DURATION(buffer.get()) = static_cast<GstClockTime>(step_ns_);
  if (timing_ == Timing::ConstantRate) previous_.reset(gst_buffer_ref(buffer.get()));
  if (gst_app_src_push_buffer(GST_APP_SRC(appsrc_), buffer.release()) != GST_FLOW_OK) fail();
}

void Recording::write(std::int64_t pts_ns, const ImageView& image) {
  const GstClockTime time = next_pts(pts_ns);
  const GstClockTime start = timing_ == Timing::ConstantRate ? take_slot(time) : time;
  Owned<GstBuffer> buffer = acquire();
  GstVideoFrame frame = map(buffer.get(), GST_MAP_WRITE);
  if (GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_I420)
    write_i420(image, frame);
  else
    copy_padded(image, static_cast<std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0)),
                GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0));
  gst_video_frame_unmap(&frame);
  push(std::move(buffer), start);
  ++frames_;
}

void Recording::finish() {
  gst_app_src_end_of_stream(GST_APP_SRC(appsrc_));
  const auto patience = static_cast<GstClockTime>(file_.patience().limit.count());
  const GstClockTime limit = file_.is_regular() || patience == 0 ? kFinishLimit : patience;
  const Owned<GstMessage> message(gst_bus_timed_pop_filtered(
      bus_.get(), limit, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR)));
  if (message && GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) {
    gst_bus_post(bus_.get(), gst_message_ref(message.get()));
    fail();
  }
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (!message) {
    const fs::path part = file_.keep_unfinished();
    throw Error(ExitCode::Io,
                fmt::format("{}: the encoder did not finish within {} s; what it wrote is in {}",
                            path().string(), limit / GST_SECOND, part.string()));
  }
  file_.complete();
}

void Recording::fail() {
  const auto message = pop_error(bus_.get());
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  const fs::path part = file_.keep_unfinished();
  const std::string reason = message ? to_error(message.get(), path().string()).what()
                                     : path().string() + ": the encoder takes no more frames";
  throw Error(ExitCode::Io, fmt::format("{}; what was written is in {}", reason, part.string()));
}

std::string Recording::differences() const {
  std::string text;
  if (clamped_ > 0) text += fmt::format(", {} timestamps corrected", clamped_);
  if (repeated_ > 0) text += fmt::format(", {} pictures repeated where the source has gaps", repeated_);
  if (latest_ > static_cast<GstClockTime>(step_ns_))
    text += fmt::format(
        ", pictures up to {:.3f} s late (the file has a constant rate; mkv, webm, mp4 and mov keep "
        "times)",
        static_cast<double>(latest_) / GST_SECOND);
  if (width_ != format_.width || height_ != format_.height)
    text += fmt::format(", padded to {} x {}", width_, height_);
  return text;
}

Recording::~Recording() {
  if (pipeline_) gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
  if (bus_) gst_bus_set_sync_handler(bus_.get(), nullptr, nullptr, nullptr);
  if (pool_) gst_buffer_pool_set_active(pool_.get(), FALSE);
}

}  // namespace contorno::gst
