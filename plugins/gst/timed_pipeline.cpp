// A pipeline that somebody has already, with a probe on every pad: each notes the times of the buffers that
// pass it, in memory of its own, in the thread that brings them. Which pads are on the way from a source
// through `contorno` to the sinks is found out at the end, when decoders have long been chosen.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gst/video/video.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "pipeline/shared/clock.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/gst/launch_line.h"
#include "plugins/gst/pad_times.h"
#include "plugins/gst/parts.h"
#include "plugins/gst/pipeline.h"

namespace contorno::gst {
namespace {

constexpr const char* kElement = "contorno";

/// Collects what the tracers say, from any thread.
struct Traces {
  std::mutex mutex;
  std::vector<TracedTime> times;
};
Traces& traces() {
  static Traces all;
  return all;
}

void on_trace(GstDebugCategory* category, GstDebugLevel level, const gchar* file, const gchar* function,
              gint line, GObject* object, GstDebugMessage* message, gpointer) {
  if (std::string_view(gst_debug_category_get_name(category)) != "GST_TRACER")
    return gst_debug_log_default(category, level, file, function, line, object, message, nullptr);
  const std::int64_t now = now_ns();
  const std::string_view text = gst_debug_message_get(message);
  const bool whole = text.starts_with("latency, "), single = text.starts_with("element-latency, ");
  if (!whole && !single) return;
  GstStructure* said = gst_structure_from_string(text.data(), nullptr);
  if (said == nullptr) return;
  const auto word = [&](const char* name) -> std::string {
    const char* value = gst_structure_get_string(said, name);
    return value != nullptr ? value : "";
  };
  guint64 time = 0;
  if (gst_structure_get_uint64(said, "time", &time)) {
    Traces& all = traces();
    const std::lock_guard lock(all.mutex);
    all.times.push_back(
        {.what = whole ? word("src-element") + " to " + word("sink-element") : word("element"),
         .at_ns = now,
         .time_ns = static_cast<std::int64_t>(time)});
  }
  gst_structure_free(said);
}

/// Tracers can only be chosen before GStreamer starts.
void start_with_tracer() {
  if (gst_is_initialized() == FALSE) ::setenv("GST_TRACERS", "latency(flags=pipeline+element)", 0);
  ensure_init();
  gst_debug_set_active(TRUE);
  gst_debug_set_threshold_for_name("GST_TRACER", GST_LEVEL_TRACE);
  gst_debug_remove_log_function(gst_debug_log_default);
  gst_debug_add_log_function(on_trace, nullptr, nullptr);
}

/// The plugin lies beside this module, where GStreamer may not look.
void find_plugin() {
  if (has_element(kElement)) return;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&find_plugin), &self) == 0) return;
  const auto folder = std::filesystem::path(self.dli_fname).parent_path().parent_path() / "gstreamer-1.0";
  gst_registry_scan_path(gst_registry_get(), folder.c_str());
}

/// The pad that data really comes from or goes to, out of and into bins.
Owned<GstPad> real_peer(GstPad* pad) {
  Owned<GstPad> peer(gst_pad_get_peer(pad));
  while (peer) {
    if (GST_IS_GHOST_PAD(peer.get())) {
      peer.reset(gst_ghost_pad_get_target(GST_GHOST_PAD(peer.get())));
    } else if (GST_IS_PROXY_PAD(peer.get())) {  // the inside of a bin's border
      const Owned<GstProxyPad> outside(gst_proxy_pad_get_internal(GST_PROXY_PAD(peer.get())));
      if (!outside) return nullptr;
      peer.reset(gst_pad_get_peer(GST_PAD(outside.get())));
    } else {
      return peer;
    }
  }
  return nullptr;
}

class ProbedPipeline final : public TimedPipeline {
 public:
  explicit ProbedPipeline(const std::string& line)
      : pipeline_(GST_ELEMENT(gst_object_ref_sink(gst_pipeline_new(nullptr)))),
        bus_(gst_element_get_bus(pipeline_.get())) {
    g_signal_connect(pipeline_.get(), "deep-element-added", G_CALLBACK(on_element), this);
    gst_bin_add(GST_BIN(pipeline_.get()), parse_launch_line(line, OpenPads::Left));
    each_element([this](GstElement* element) { watch(element); });
    if (!contorno_)
      throw Error(ExitCode::BadConfig, "the pipeline has no element 'contorno', whose frames are measured");
  }
  /// Apart from the constructor, so that whatever fails is brought to an end.
  void start() {
    const GstStateChangeReturn paused = gst_element_set_state(pipeline_.get(), GST_STATE_PAUSED);
    live_ = paused == GST_STATE_CHANGE_NO_PREROLL;
    if (paused != GST_STATE_CHANGE_FAILURE) gst_element_set_state(pipeline_.get(), GST_STATE_PLAYING);
    static_cast<void>(ended());
  }
  ~ProbedPipeline() override {
    if (end()) return;
    // A thread that is in a stopped element may still use the list of pads, so that it is not freed.
    g_signal_handlers_disconnect_by_data(pipeline_.get(), this);
    each_element([this](GstElement* element) { g_signal_handlers_disconnect_by_data(element, this); });
    static_cast<void>(kept_.release());
    static_cast<void>(pipeline_.release());
    static_cast<void>(contorno_.release());
  }

  bool ended() override {
    while (const Owned<GstMessage> message{gst_bus_pop(bus_.get())})
      switch (GST_MESSAGE_TYPE(message.get())) {
        case GST_MESSAGE_ERROR:
          throw to_error(message.get(), "the pipeline");
        case GST_MESSAGE_EOS:
          ended_ = true;
          break;
        case GST_MESSAGE_LATENCY:
          gst_bin_recalculate_latency(GST_BIN(pipeline_.get()));
          break;
        default:
          break;
      }
    return ended_;
  }

  PipelineTimes stop() override {
    PipelineTimes times;
    times.live = live_;
    times.stopped_ns = ended_ ? 0 : now_ns();
    std::vector<GstPad*> way = way_to(contorno_.get());
    std::vector<GstPad*> sinks;
    const Owned<GstPad> out(gst_element_get_static_pad(contorno_.get(), "src"));
    way.push_back(out.get());
    add_sinks(out.get(), sinks);
    if (live_) times.stamp_offset_ns = stamp_offset(way.front());
    // Pads that came with the stream are gone when it has ended.
    for (GstPad* pad : way) times.way.push_back(place_of(pad));
    for (GstPad* pad : sinks) times.sinks.push_back(place_of(pad));
    static_cast<void>(end());
    for (std::size_t i = 0; i < way.size(); ++i) take_times(way[i], times.way[i]);
    for (std::size_t i = 0; i < sinks.size(); ++i) take_times(sinks[i], times.sinks[i]);
    Traces& all = traces();
    const std::lock_guard lock(all.mutex);
    times.traced = std::move(all.times);
    return times;
  }

 private:
  /// Ends the pipeline. False: it did not end in time, because an element that does not come back from its
  /// work, as a sink that writes into a pipe which nobody reads, can be waited for only for ever.
  bool end() {
    constexpr std::chrono::seconds kPatience{5};
    if (!ending_.valid()) {
      const auto task = std::make_shared<std::packaged_task<void()>>(
          [pipeline = GST_ELEMENT(gst_object_ref(pipeline_.get()))] {
            gst_element_set_state(pipeline, GST_STATE_NULL);
            gst_object_unref(pipeline);
          });
      ending_ = task->get_future();
      try {
        start_thread("ending", [task] { (*task)(); }).detach();
      } catch (const Error&) {
        (*task)();
      }
      return ending_.wait_for(kPatience) == std::future_status::ready;
    }
    return ending_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

  template <class Visit>
  void each_element(const Visit& visit) {
    GstIterator* elements = gst_bin_iterate_recurse(GST_BIN(pipeline_.get()));
    gst_iterator_foreach(
        elements,
        [](const GValue* item, gpointer data) {
          (*static_cast<const Visit*>(data))(GST_ELEMENT(g_value_get_object(item)));
        },
        const_cast<Visit*>(&visit));
    gst_iterator_free(elements);
  }

  static void on_element(GstBin*, GstBin*, GstElement* element, gpointer self) {
    static_cast<ProbedPipeline*>(self)->watch(element);
  }
  static void on_pad(GstElement*, GstPad* pad, gpointer self) {
    static_cast<ProbedPipeline*>(self)->probe(pad);
  }

  void watch(GstElement* element) {
    if (GST_IS_BIN(element)) return;
    const GstElementFactory* factory = gst_element_get_factory(element);
    if (!contorno_ && factory != nullptr && std::string_view(GST_OBJECT_NAME(factory)) == kElement)
      contorno_.reset(GST_ELEMENT(gst_object_ref(element)));
    const auto probe_pad = [](GstElement*, GstPad* pad, gpointer self) -> gboolean {
      static_cast<ProbedPipeline*>(self)->probe(pad);
      return TRUE;
    };
    gst_element_foreach_pad(element, probe_pad, this);
    g_signal_connect(element, "pad-added", G_CALLBACK(on_pad), this);
  }

  /// Outputs of elements, and inputs of those that have none.
  void probe(GstPad* pad) {
    const Owned<GstElement> element(gst_pad_get_parent_element(pad));
    if (!element || (GST_PAD_IS_SINK(pad) && !GST_OBJECT_FLAG_IS_SET(element.get(), GST_ELEMENT_FLAG_SINK)))
      return;
    const std::lock_guard lock(mutex_);
    for (const PadTimes& known : times_)
      if (known.pad() == pad) return;
    times_.emplace_back(pad);
  }

  static std::string name_of_element(GstPad* pad) {
    const Owned<GstElement> element(gst_pad_get_parent_element(pad));
    return element ? GST_ELEMENT_NAME(element.get()) : "";
  }

  PadTimes* times_of(const GstPad* pad) {
    const std::lock_guard lock(mutex_);
    for (PadTimes& times : times_)
      if (times.pad() == pad) return &times;
    return nullptr;
  }

  /// What is known of the pad's element while the pipeline still runs.
  PassedElement place_of(GstPad* pad) {
    PassedElement place{.name = name_of_element(pad), .passings = {}, .rate = rate_of(pad), .kept = {}};
    if (const PadTimes* times = times_of(pad); times != nullptr) place.held_since_ns = times->held_since_ns();
    return place;
  }

  /// `pad` is only compared with those that are watched.
  void take_times(const GstPad* pad, PassedElement& place) {
    if (PadTimes* const times = times_of(pad); times != nullptr) times->end(place);
  }

  /// The outputs that buffers leave on their way to `element`, the farthest first.
  std::vector<GstPad*> way_to(GstElement* element) {
    constexpr std::size_t kMostElements = 1000;
    std::vector<GstPad*> way;
    Owned<GstPad> in(gst_element_get_static_pad(element, "sink"));
    while (in && way.size() < kMostElements) {
      const Owned<GstPad> from = real_peer(in.get());
      if (!from) break;
      way.insert(way.begin(), from.get());  // the elements keep their pads until the pipeline ends
      const Owned<GstElement> before(gst_pad_get_parent_element(from.get()));
      in.reset(before && before->sinkpads != nullptr ? GST_PAD(gst_object_ref(before->sinkpads->data))
                                                     : nullptr);
    }
    return way;
  }

  /// The inputs of the sinks behind `out`.
  void add_sinks(GstPad* out, std::vector<GstPad*>& sinks) {
    const Owned<GstPad> to = real_peer(out);
    const Owned<GstElement> next(to ? gst_pad_get_parent_element(to.get()) : nullptr);
    if (!next) return;
    if (next->srcpads == nullptr) sinks.push_back(to.get());
    for (const GList* pad = next->srcpads; pad != nullptr; pad = pad->next)
      add_sinks(GST_PAD(pad->data), sinks);
  }

  /// The offset from presentation times to the times on the clock of now_ns() that they stand for.
  std::int64_t stamp_offset(GstPad* first) {
    const Owned<GstClock> clock(gst_pipeline_get_clock(GST_PIPELINE(pipeline_.get())));
    const Owned<GstEvent> event(gst_pad_get_sticky_event(first, GST_EVENT_SEGMENT, 0));
    if (!clock || !event) return 0;
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event.get(), &segment);
    if (segment->format != GST_FORMAT_TIME) return 0;
    const auto clock_offset = now_ns() - static_cast<std::int64_t>(gst_clock_get_time(clock.get()));
    return clock_offset + static_cast<std::int64_t>(gst_element_get_base_time(pipeline_.get())) +
           static_cast<std::int64_t>(segment->base) - static_cast<std::int64_t>(segment->start);
  }

  std::mutex mutex_;
  /// The list is on the heap, so that it can outlive this object where an element goes on using it.
  std::unique_ptr<std::list<PadTimes>> kept_ = std::make_unique<std::list<PadTimes>>();
  std::list<PadTimes>& times_ = *kept_;  // pads have their addresses
  Owned<GstElement> pipeline_;
  Owned<GstBus> bus_;
  Owned<GstElement> contorno_;
  std::future<void> ending_;
  bool live_ = false, ended_ = false;
};

}  // namespace

std::unique_ptr<TimedPipeline> time_pipeline(const std::string& line) {
  start_with_tracer();
  find_plugin();
  auto pipeline = std::make_unique<ProbedPipeline>(line);
  pipeline->start();
  return pipeline;
}

}  // namespace contorno::gst
