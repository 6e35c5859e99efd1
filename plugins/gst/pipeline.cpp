#include "plugins/gst/pipeline.h"

#include <fmt/format.h>

#include <chrono>
#include <cstring>

#include "plugins/gst/i420.h"

namespace contorno::gst {
namespace {

constexpr GstClockTime kPoll = 20 * GST_MSECOND;  // how late a cancel or an error may be noticed
constexpr guint kQueuedFrames = 3;                // decoded ahead

ExitCode code_of(const GError& error) {
  if (error.domain == GST_RESOURCE_ERROR) {
    switch (error.code) {
      case GST_RESOURCE_ERROR_NOT_FOUND:
      case GST_RESOURCE_ERROR_OPEN_READ:
      case GST_RESOURCE_ERROR_OPEN_READ_WRITE:
      case GST_RESOURCE_ERROR_NOT_AUTHORIZED:
        return ExitCode::MissingInput;
      case GST_RESOURCE_ERROR_BUSY:
        return ExitCode::Unavailable;
      default:
        return ExitCode::Io;
    }
  }
  if (error.domain == GST_CORE_ERROR)
    return error.code == GST_CORE_ERROR_MISSING_PLUGIN ? ExitCode::Unavailable : ExitCode::BadData;
  if (error.domain == GST_STREAM_ERROR && error.code == GST_STREAM_ERROR_CODEC_NOT_FOUND)
    return ExitCode::Unavailable;
  return ExitCode::BadData;
}

/// The pads of a decodebin come and go with the stream; only the first video pad is taken.
void on_pad_added(GstElement*, GstPad* pad, gpointer target) {
  Owned<GstPad> sink(gst_element_get_static_pad(GST_ELEMENT(target), "sink"));
  if (gst_pad_is_linked(sink.get())) return;
  Owned<GstCaps> caps(gst_pad_query_caps(pad, nullptr));
  if (gst_caps_is_empty(caps.get()) || gst_caps_is_any(caps.get())) return;
  const char* name = gst_structure_get_name(gst_caps_get_structure(caps.get(), 0));
  if (g_str_has_prefix(name, "video/")) gst_pad_link(pad, sink.get());
}

/// "MPEG-4 Video decoder" when the message says that something is not installed, else empty.
std::string missing_decoder(GstMessage* message) {
  const GstStructure* structure = gst_message_get_structure(message);
  if (GST_MESSAGE_TYPE(message) != GST_MESSAGE_ELEMENT || !structure ||
      !gst_structure_has_name(structure, "missing-plugin"))
    return {};
  const char* name = gst_structure_get_string(structure, "name");
  return name ? name : "unnamed decoder";
}

/// Nobody reads the bus between frames, so everything but errors is dropped where it arises: a bus that is
/// never emptied grows for as long as the stream runs. Warnings are counted.
GstBusSyncReply keep_errors(GstBus*, GstMessage* message, gpointer complaints) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) static_cast<Complaints*>(complaints)->add(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR || !missing_decoder(message).empty())
    return GST_BUS_PASS;
  gst_message_unref(message);
  return GST_BUS_DROP;
}

GstElementFactory* factory_of(GstMessage* message) {
  GstObject* source = GST_MESSAGE_SRC(message);
  return GST_IS_ELEMENT(source) ? gst_element_get_factory(GST_ELEMENT(source)) : nullptr;
}

std::string without_full_stop(std::string sentence) {
  while (!sentence.empty() && (sentence.back() == '.' || sentence.back() == '\n')) sentence.pop_back();
  return sentence;
}

/// What videoconvert leaves as it is: what is wanted, and what `copy_frame` makes it of. A picture that is
/// rotated keeps its chroma samples where their pixels are, because its sides are even.
Owned<GstCaps> frame_caps() {
  ensure_init();  // caps need GStreamer's types
  return Owned<GstCaps>(gst_caps_from_string(
      fmt::format("video/x-raw,format=RGBA,width=[1,{0}],height=[1,{0}];"
                  "video/x-raw,format=I420,interlace-mode=progressive,width=[2,{0},2],height=[2,{0},2]",
                  kMaxVideoSide)
          .c_str()));
}

void copy_rgba(const GstVideoFrame& frame, const ImageView& target) {
  const auto* source = static_cast<const std::uint8_t*>(GST_VIDEO_FRAME_PLANE_DATA(&frame, 0));
  const std::ptrdiff_t pitch = GST_VIDEO_FRAME_PLANE_STRIDE(&frame, 0);
  const std::size_t row_bytes = static_cast<std::size_t>(GST_VIDEO_FRAME_WIDTH(&frame)) * 4;
  for (int y = 0; y < GST_VIDEO_FRAME_HEIGHT(&frame); ++y)
    std::memcpy(target.row<std::uint8_t>(y), source + y * pitch, row_bytes);
}

/// Why a stream was stopped, where GStreamer says no more than that it was; empty otherwise.
std::string_view reason_of(std::string_view details) {
  if (details.find("reason not-linked") != std::string_view::npos)
    return "; nothing of what comes is video that can be decoded";
  if (details.find("reason not-negotiated") != std::string_view::npos)
    return "; the format of what comes is none that the next element takes";
  return {};
}

}  // namespace

Error to_error(GstMessage* message, const std::string& subject) {
  GError* raw = nullptr;
  gchar* raw_details = nullptr;
  gst_message_parse_error(message, &raw, &raw_details);
  const Owned<GError> error(raw);
  const Owned<gchar> details(raw_details);
  const GstElementFactory* factory = factory_of(message);
  const std::string reporter = factory ? GST_OBJECT_NAME(factory) : "GStreamer";
  std::string sentence = without_full_stop(error->message);
  if (details) sentence += reason_of(details.get());
  const ExitCode code = code_of(*error);
  if (code == ExitCode::Unavailable)
    sentence += "; more decoders come with the packages " + decoder_packages();
  return blaming_memory({code, fmt::format("{}: {} (reported by {})", subject, sentence, reporter)});
}

Owned<GstMessage> pop_error(GstBus* bus) {
  return Owned<GstMessage>(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
}

Owned<GstCaps> raw_caps(const char* format, int width, int height, int rate_numerator, int rate_denominator) {
  ensure_init();  // caps need GStreamer's types
  Owned<GstCaps> caps(gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, format, nullptr));
  const auto set_side = [&](const char* name, int side) {
    if (side > 0)
      gst_caps_set_simple(caps.get(), name, G_TYPE_INT, side, nullptr);
    else
      gst_caps_set_simple(caps.get(), name, GST_TYPE_INT_RANGE, 1, kMaxVideoSide, nullptr);
  };
  set_side("width", width);
  set_side("height", height);
  if (rate_numerator > 0)
    gst_caps_set_simple(caps.get(), "framerate", GST_TYPE_FRACTION, rate_numerator, rate_denominator,
                        nullptr);
  return caps;
}

const char* raw_format_of(const ImageFormat& format) {
  if (format.type == ElementType::U8 && (format.layout == Layout::Interleaved || format.channels == 1)) {
    if (format.channels == 4) return "RGBA";
    if (format.channels == 3) return "RGB";
    if (format.channels == 1) return "GRAY8";
  }
  throw Error(
      ExitCode::BadConfig,
      fmt::format("a picture of {} cannot be written or shown, allowed are u8 interleaved images of 1, 3 "
                  "or 4 channels",
                  describe(format)));
}

ImageFormat format_of(GstSample* sample) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, gst_sample_get_caps(sample)))
    throw InternalError("frames without video caps");
  return {.width = GST_VIDEO_INFO_WIDTH(&info), .height = GST_VIDEO_INFO_HEIGHT(&info), .channels = 4};
}

bool copy_frame(GstSample* sample, const ImageView& target) {
  GstVideoInfo info;
  GstBuffer* buffer = gst_sample_get_buffer(sample);
  if (!buffer || !gst_video_info_from_caps(&info, gst_sample_get_caps(sample))) return false;
  GstVideoFrame frame;
  // Mapping takes the strides from the buffer's metadata where it has some, and checks its size.
  if (!gst_video_frame_map(&frame, &info, buffer, GST_MAP_READ)) return false;
  if (GST_VIDEO_FRAME_FORMAT(&frame) == GST_VIDEO_FORMAT_I420)
    read_i420(frame, target);
  else
    copy_rgba(frame, target);
  gst_video_frame_unmap(&frame);
  return true;
}

void Complaints::add(GstMessage* warning) {
  constexpr auto kReaders =
      GST_ELEMENT_FACTORY_TYPE_DECODER | GST_ELEMENT_FACTORY_TYPE_DEMUXER | GST_ELEMENT_FACTORY_TYPE_PARSER;
  GstElementFactory* factory = factory_of(warning);
  // The bins that choose decoders only say that nobody wants the sound.
  if (!factory || GST_IS_BIN(GST_MESSAGE_SRC(warning)) ||
      !gst_element_factory_list_is_type(factory, kReaders))
    return;
  GError* raw = nullptr;
  gst_message_parse_warning(warning, &raw, nullptr);
  const Owned<GError> error(raw);
  const std::lock_guard lock(mutex_);
  if (count_++ == 0)
    first_ = fmt::format("{} (reported by {})", without_full_stop(error->message), GST_OBJECT_NAME(factory));
}

int Complaints::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

std::string Complaints::first() const {
  const std::lock_guard lock(mutex_);
  return first_;
}

FramePipeline::FramePipeline() {
  ensure_init();
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus_.get(), keep_errors, &complaints_, nullptr);
}

FramePipeline::~FramePipeline() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

GstElement* FramePipeline::add_frame_end() {
  GstElement* convert = convert_ = add("videoconvert");
  GstElement* filter = add("capsfilter");
  GstElement* flip = add("videoflip");
  appsink_ = add("appsink");
  gst_util_set_object_arg(G_OBJECT(convert), "dither", "none");  // 16-bit input gives the same bytes always
  g_object_set(filter, "caps", frame_caps().get(), nullptr);
  g_object_set(appsink_, "sync", FALSE, "max-buffers", kQueuedFrames, "emit-signals", FALSE,
               "enable-last-sample", FALSE, nullptr);
  gst_util_set_object_arg(G_OBJECT(flip), "video-direction", "auto");  // as phones and cameras tag it
  link({convert, filter, flip, appsink_});
  return convert;
}

GstElement* FramePipeline::decode_behind(GstElement* source) {
  GstElement* decode = add("decodebin");
  link({source, decode});
  link_when_decoded(decode, add_frame_end());
  return decode;
}

void FramePipeline::link_when_decoded(GstElement* decodebin, GstElement* target) {
  g_signal_connect(decodebin, "pad-added", G_CALLBACK(on_pad_added), target);
}

void FramePipeline::play() {
  gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
}

FramePipeline::Pulled FramePipeline::pull(int timeout_ms, const std::atomic<bool>& cancelled,
                                          const std::string& subject) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::milliseconds(timeout_ms);
  const auto failed = [&](GstMessage* message) {
    const Error error = to_error(message, subject);
    return Pulled{
        .result = Pull::Failed,
        .error = missing_.empty() ? error.what() : fmt::format("{}; missing: {}", error.what(), missing_),
        .code = error.code()};
  };
  while (!cancelled.load(std::memory_order_relaxed)) {
    Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(appsink_), kPoll));
    if (sample) return {.result = Pull::Frame, .sample = std::move(sample)};
    if (const auto message = next_error()) return failed(message.get());
    if (gst_app_sink_is_eos(GST_APP_SINK(appsink_))) {
      // An element that fails posts its error before it ends the stream, perhaps after the look above.
      if (const auto message = next_error()) return failed(message.get());
      return {.result = Pull::End};
    }
    if (timeout_ms > 0 && Clock::now() >= deadline) return {.result = Pull::TimedOut};
  }
  return {.result = Pull::Cancelled};
}

Owned<GstMessage> FramePipeline::next_error() {
  constexpr auto kTypes = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
  while (Owned<GstMessage> message{gst_bus_pop_filtered(bus_.get(), kTypes)}) {
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) return message;
    missing_ = missing_decoder(message.get());
  }
  return nullptr;
}

bool FramePipeline::is_live() const {
  // Asked of the elements before the appsink: without clock synchronisation it does not ask them itself.
  const Owned<GstPad> pad(gst_element_get_static_pad(appsink_, "sink"));
  const Owned<GstQuery> query(gst_query_new_latency());
  if (!gst_pad_peer_query(pad.get(), query.get())) return false;
  gboolean live = FALSE;
  gst_query_parse_latency(query.get(), &live, nullptr, nullptr);
  return live != FALSE;
}

Owned<GstElement> FramePipeline::decoder() const {
  const Owned<GstPad> end(gst_element_get_static_pad(convert_, "sink"));
  Owned<GstPad> pad(gst_pad_get_peer(end.get()));
  // Out of the bins that chose the decoder.
  while (pad && GST_IS_GHOST_PAD(pad.get())) pad.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(pad.get())));
  Owned<GstElement> element(pad ? gst_pad_get_parent_element(pad.get()) : nullptr);
  GstElementFactory* factory = element ? gst_element_get_factory(element.get()) : nullptr;
  if (!factory || !gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DECODER))
    return nullptr;
  return element;
}

namespace {

/// `visit(element, factory)` for each demuxer.
template <class Visit>
void for_each_demuxer(GstElement* pipeline, Visit visit) {
  GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline));
  const auto call = [](const GValue* item, gpointer data) {
    auto* element = GST_ELEMENT(g_value_get_object(item));
    GstElementFactory* factory = gst_element_get_factory(element);
    if (factory && gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_DEMUXER))
      (*static_cast<Visit*>(data))(element, factory);
  };
  gst_iterator_foreach(elements, call, &visit);
  gst_iterator_free(elements);
}

}  // namespace

int FramePipeline::streams() const {
  int pads = 0;
  for_each_demuxer(pipeline_.get(),
                   [&pads](GstElement* element, GstElementFactory*) { pads += element->numsrcpads; });
  return pads;
}

bool FramePipeline::states_duration() const {
  bool states = false;
  for_each_demuxer(pipeline_.get(), [&states](GstElement*, GstElementFactory* factory) {
    const std::string_view name = GST_OBJECT_NAME(factory);
    states = states || name == "matroskademux" || name == "qtdemux" || name == "avidemux";
  });
  return states;
}

std::int64_t FramePipeline::duration_ns() const {
  gint64 duration = -1;
  return gst_element_query_duration(pipeline_.get(), GST_FORMAT_TIME, &duration) ? duration : -1;
}

}  // namespace contorno::gst
