#include "plugins/gst/pipeline.h"

#include <fmt/format.h>
#include <gst/base/gstbasetransform.h>

#include <chrono>

#include "plugins/gst/decoder_guard.h"
#include "plugins/gst/deep_element.h"
#include "plugins/gst/element/colours.h"
#include "plugins/gst/missing.h"
#include "plugins/gst/raw_rows.h"
#include "plugins/gst/stream_colours.h"

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
  if (g_str_has_prefix(name, "video/") || g_str_has_prefix(name, "image/")) gst_pad_link(pad, sink.get());
}

/// Nobody reads the bus between frames, so everything but errors is dropped where it arises: a bus that is
/// never emptied grows for as long as the stream runs. Warnings are counted.
GstBusSyncReply keep_errors(GstBus*, GstMessage* message, gpointer complaints) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) static_cast<Complaints*>(complaints)->add(message);
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR || !missing_part(message).empty()) return GST_BUS_PASS;
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
      fmt::format("video/x-raw,format={{RGBA,GRAY8,GRAY16_LE}},width=[1,{0}],height=[1,{0}];"
                  "video/x-raw,format=I420,interlace-mode=progressive,width=[2,{0},2],height=[2,{0},2]",
                  kMaxVideoSide)
          .c_str()));
}

/// Answers who makes buffers for the appsink that rows may be as far apart as he likes, and offers a pool for
/// such buffers, which the appsink does not by itself: a decoder would copy each frame from its own memory.
GstPadProbeReturn on_query(GstPad*, GstPadProbeInfo* info, gpointer) {
  GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
  if (GST_QUERY_TYPE(query) != GST_QUERY_ALLOCATION) return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gboolean wants_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &wants_pool);
  GstVideoInfo video;
  if (caps == nullptr || !gst_video_info_from_caps(&video, caps)) return GST_PAD_PROBE_OK;
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  if (wants_pool) {
    const Owned<GstBufferPool> pool(gst_video_buffer_pool_new());
    gst_query_add_allocation_pool(query, pool.get(), static_cast<guint>(GST_VIDEO_INFO_SIZE(&video)), 0, 0);
  }
  return GST_PAD_PROBE_HANDLED;
}

/// Why a stream was stopped, where GStreamer says no more than that it was; empty otherwise.
std::string reason_of(std::string_view details) {
  constexpr std::string_view kSystem = "system error: ";
  if (const std::size_t at = details.find(kSystem); at != std::string_view::npos)
    return "; " + std::string(details.substr(at + kSystem.size()));
  if (details.find("reason not-linked") != std::string_view::npos)
    return "; nothing of what comes is video that can be decoded";
  if (details.find("reason not-negotiated") != std::string_view::npos)
    return "; the format of what comes is none that the next element takes";
  return {};
}

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

/// The demuxer that gave up before it had a stream; empty when there is none. A decodebin drops the errors of
/// an element that it is still starting, so nobody may have said so on the bus. A demuxer that pulls pauses
/// its task when it stops for good; one that still looks for streams runs it.
std::string demuxer_that_gave_up(GstElement* pipeline) {
  std::string name;
  for_each_demuxer(pipeline, [&name](GstElement* element, GstElementFactory* factory) {
    const Owned<GstPad> sink(gst_element_get_static_pad(element, "sink"));
    if (sink && element->numsrcpads == 0 && gst_pad_get_task_state(sink.get()) == GST_TASK_PAUSED)
      name = GST_OBJECT_NAME(factory);
  });
  return name;
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
  return blaming_memory({code, fmt::format("{}: {} (reported by {})", subject, sentence, reporter)});
}

Owned<GstMessage> pop_error(GstBus* bus) {
  return Owned<GstMessage>(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR));
}

void Complaints::add(GstMessage* warning) {
  GstElementFactory* factory = factory_of(warning);
  // The bins that choose decoders only say that nobody wants the sound.
  if (!factory || GST_IS_BIN(GST_MESSAGE_SRC(warning))) return;
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

FramePipeline::FramePipeline(std::string deep_codec) : deep_codec_(std::move(deep_codec)) {
  ensure_init();
  pipeline_.reset(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr))));
  bus_.reset(gst_element_get_bus(pipeline_.get()));
  gst_bus_set_sync_handler(bus_.get(), keep_errors, &complaints_, nullptr);
  guard_decoders(pipeline_.get());
  turn_quicktime_samples(pipeline_.get());
  read_stream_colours(pipeline_.get());
  if (!deep_codec_.empty()) leave_out_decoder(pipeline_.get(), deep_codec_);
}

FramePipeline::~FramePipeline() {
  gst_element_set_state(pipeline_.get(), GST_STATE_NULL);
}

GstElement* FramePipeline::add_frame_end() {
  GstElement* convert = convert_ = add("videoconvert");
  GstElement* filter = add("capsfilter");
  GstElement* flip = flip_ = add("videoflip");
  appsink_ = add("appsink");
  gst_util_set_object_arg(G_OBJECT(convert), "dither", "none");  // 16-bit input gives the same bytes always
  g_object_set(filter, "caps", frame_caps().get(), nullptr);
  g_object_set(appsink_, "sync", FALSE, "max-buffers", kQueuedFrames, "emit-signals", FALSE,
               "enable-last-sample", FALSE, nullptr);
  gst_util_set_object_arg(G_OBJECT(flip), "video-direction", "auto");  // as phones and cameras tag it
  // What is upright need not be copied, which videoflip knows by itself only when it has turned a frame
  // before.
  gst_base_transform_set_passthrough(GST_BASE_TRANSFORM(flip), TRUE);
  const Owned<GstPad> begin(gst_element_get_static_pad(convert, "sink"));
  complete_colours(begin.get());
  describe_rows(begin.get());
  const Owned<GstPad> end(gst_element_get_static_pad(appsink_, "sink"));
  gst_pad_add_probe(end.get(), GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, on_query, nullptr, nullptr);
  link({convert, filter, flip, appsink_});
  if (deep_codec_.empty()) return convert;
  register_deep_decoder();
  GstElement* decoder = add(kDeepDecoder);
  g_object_set(decoder, "codec", deep_codec_.c_str(), nullptr);
  link({decoder, convert});
  return decoder;
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

void FramePipeline::set_direction(GstVideoOrientationMethod direction) {
  g_object_set(flip_, "video-direction", direction, nullptr);
}

void FramePipeline::make_ready(const std::string& subject) {
  if (gst_element_set_state(pipeline_.get(), GST_STATE_READY) != GST_STATE_CHANGE_FAILURE) return;
  if (const auto message = next_error()) throw to_error(message.get(), subject);
  throw Error(ExitCode::Io, fmt::format("{}: it cannot be opened, and GStreamer does not say why", subject));
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
  const auto nameless = [&](const std::string& decoder) {
    return Pulled{
        .result = Pull::Failed,
        .error = fmt::format("{}: GStreamer has no name for the samples that libav's decoder {} makes",
                             subject, decoder),
        .code = ExitCode::Unavailable};
  };
  const auto gave_up = [&](const std::string& demuxer) {
    // The words of the demuxer itself, which GStreamer does not always pass on.
    return Pulled{.result = Pull::Failed,
                  .error = fmt::format("{}: Internal data stream error (reported by {})", subject, demuxer)};
  };
  bool seen_before = false;
  while (!cancelled.load(std::memory_order_relaxed)) {
    Owned<GstSample> sample(gst_app_sink_try_pull_sample(GST_APP_SINK(appsink_), kPoll));
    if (sample) {
      frames_came_ = true;
      return {.result = Pull::Frame, .sample = std::move(sample)};
    }
    if (const std::string decoder = nameless_decoder(pipeline_.get()); !decoder.empty())
      return nameless(decoder);
    if (const auto message = next_error()) return failed(message.get());
    if (gst_app_sink_is_eos(GST_APP_SINK(appsink_))) {
      // An element that fails posts its error before it ends the stream, perhaps after the look above.
      if (const auto message = next_error()) return failed(message.get());
      return {.result = Pull::End};
    }
    // Demuxers pause before they post their error: it has the time of a poll to come.
    if (const std::string demuxer = frames_came_ ? "" : demuxer_that_gave_up(pipeline_.get());
        !demuxer.empty() && std::exchange(seen_before, true)) {
      if (const auto message = next_error()) return failed(message.get());
      return gave_up(demuxer);
    }
    if (timeout_ms > 0 && Clock::now() >= deadline) return {.result = Pull::TimedOut};
  }
  return {.result = Pull::Cancelled};
}

Owned<GstMessage> FramePipeline::next_error() {
  constexpr auto kTypes = static_cast<GstMessageType>(GST_MESSAGE_ERROR | GST_MESSAGE_ELEMENT);
  while (Owned<GstMessage> message{gst_bus_pop_filtered(bus_.get(), kTypes)}) {
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR) return message;
    missing_ = missing_part(message.get());
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

std::string FramePipeline::deep_codec() const {
#ifdef CONTORNO_HAVE_DEEP
  if (deep_codec_.empty()) return decoder_without_output(pipeline_.get());
#endif
  return {};
}

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
