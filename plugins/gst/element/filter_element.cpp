// The type of the element `contorno`, with its virtual functions.
#include <gst/video/video.h>

#include <algorithm>
#include <string>
#include <utility>

#include "plugins/gst/element/colours.h"
#include "plugins/gst/element/device_memory.h"
#include "plugins/gst/element/filter_object.h"
#include "plugins/gst/element/guard.h"
#include "plugins/gst/element/log.h"
#include "plugins/gst/element/pinned_memory.h"
#include "plugins/gst/element/plugin.h"

namespace contorno::gst {
namespace {

struct ContornoClass {
  GstBaseTransformClass parent_class;
};

void init_child_proxy(gpointer interface, gpointer);

// NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE_WITH_CODE(Contorno, contorno_filter, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY, init_child_proxy))
// NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast)

/// What decoders give, so that nothing has to stand before the element; behind those that most elements take.
constexpr const char* kCaps =
    GST_VIDEO_CAPS_MAKE_WITH_FEATURES("memory:CUDAMemory", "{ RGBA, NV12 }") ";" GST_VIDEO_CAPS_MAKE(
        "{ RGBA, RGBx, BGRA, BGRx, RGB, BGR, NV12, I420, GRAY8, GRAY16_LE, "
        "ARGB, ABGR, xRGB, xBGR, GBR, GBR_10LE, GBR_12LE, ARGB64_LE, RGBA64_LE, "
        "NV21, YV12, Y42B, Y444, Y41B, YUY2, UYVY, YVYU, NV16, A420, AYUV, AYUV64, "
        "I420_10LE, I420_12LE, I422_10LE, I422_12LE, Y444_10LE, Y444_12LE, Y444_16LE, "
        "A420_10LE, A422_10LE, A444_10LE, P010_10LE, P012_LE, P016_LE }");

void finalize(GObject* object) {
  delete static_cast<Contorno*>(static_cast<gpointer>(object))->filter;
  G_OBJECT_CLASS(contorno_filter_parent_class)->finalize(object);
}

/// Runs `work` in the streaming thread: an error ends the stream, and is posted once.
template <class Result, class Work>
Result streaming(GstBaseTransform* transform, Result fallback, const Work& work) noexcept {
  return guarded(GST_ELEMENT(transform), fallback, work, &filter_of(transform).error_posted());
}

gboolean start(GstBaseTransform* transform) {
  return streaming(transform, gboolean{FALSE}, [&] {
    filter_of(transform).start();
    return gboolean{TRUE};
  });
}

gboolean stop(GstBaseTransform* transform) {
  filter_of(transform).stop();
  return TRUE;
}

gboolean set_caps(GstBaseTransform* transform, GstCaps* in, GstCaps*) {
  return streaming(transform, gboolean{FALSE}, [&] {
    GstVideoInfo info;
    if (!read_caps(in, coded_before(GST_BASE_TRANSFORM_SINK_PAD(transform)), info)) return gboolean{FALSE};
    filter_of(transform).set_format(info, are_on_device(in));
    return gboolean{TRUE};
  });
}

/// Both pads have the same caps, without memory of a device that the graph does not run on.
GstCaps* transform_caps(GstBaseTransform* transform, GstPadDirection, GstCaps* caps, GstCaps* filter) {
  GstCaps* const taken =
      filter_of(transform).takes_device_memory() ? gst_caps_ref(caps) : without_device(gst_caps_ref(caps));
  if (filter == nullptr) return taken;
  GstCaps* const both = gst_caps_intersect_full(filter, taken, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(taken);
  return both;
}

/// Buffers go on in the memory that they came in, so upstream is offered what downstream offers. Where the
/// graph runs on a device, upstream is offered memory from which the device can copy instead.
gboolean propose_allocation(GstBaseTransform* transform, GstQuery*, GstQuery* query) {
  const gboolean known = gst_pad_peer_query(GST_BASE_TRANSFORM_SRC_PAD(transform), query);
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  if (caps == nullptr || are_on_device(caps)) return known;
  if (filter_of(transform).runs_on_device())
    return static_cast<gboolean>(propose_pinned(query) || known != 0);
  propose_aligned(query);
  return TRUE;
}

gboolean decide_allocation(GstBaseTransform*, GstQuery*) {
  return TRUE;
}

/// The base class drops frames that come too late to be shown.
GstFlowReturn submit_input_buffer(GstBaseTransform* transform, gboolean is_discont, GstBuffer* buffer) {
  Filter& filter = filter_of(transform);
  filter.note_arrival();
  const GstFlowReturn result = GST_BASE_TRANSFORM_CLASS(contorno_filter_parent_class)
                                   ->submit_input_buffer(transform, is_discont, buffer);
  if (transform->queued_buf == nullptr) filter.note_drop();
  return result;
}

/// The buffer goes on from the thread of the source pad.
GstFlowReturn generate_output(GstBaseTransform* transform, GstBuffer** out) {
  *out = nullptr;
  GstBuffer* const buffer = std::exchange(transform->queued_buf, nullptr);
  if (buffer == nullptr) return GST_FLOW_OK;
  return streaming(transform, GST_FLOW_ERROR, [&] { return filter_of(transform).take_in(buffer); });
}

/// Never called, since generate_output takes its place; that it is there tells the base class that frames are
/// changed.
GstFlowReturn transform_ip(GstBaseTransform*, GstBuffer*) {
  return GST_FLOW_OK;
}

gboolean chain_up(GstBaseTransform* transform, GstEvent* event) {
  return GST_BASE_TRANSFORM_CLASS(contorno_filter_parent_class)->sink_event(transform, event);
}

/// Begins a flush: frames inside go nowhere, and nobody waits for them or for maps.
gboolean begin_flush(GstBaseTransform* transform, GstEvent* event) {
  GST_DEBUG_OBJECT(transform, "flush");
  Filter& filter = filter_of(transform);
  if (const std::shared_ptr<MapsInput> maps = filter.maps()) maps->set_flushing(true);
  filter.queue().set_flushing(true);
  const gboolean sent = chain_up(transform, event);
  gst_pad_pause_task(GST_BASE_TRANSFORM_SRC_PAD(transform));
  return sent;
}

gboolean end_flush(GstBaseTransform* transform, GstEvent* event) {
  Filter& filter = filter_of(transform);
  if (const std::shared_ptr<MapsInput> maps = filter.maps()) maps->set_flushing(false);
  const gboolean sent = chain_up(transform, event);
  filter.queue().set_flushing(false);
  start_pushing(GST_BASE_TRANSFORM_SRC_PAD(transform));
  return sent;
}

/// Upstream has been told by the next frame, but there is none behind the end.
void post_flow_error(GstBaseTransform* transform) {
  Filter& filter = filter_of(transform);
  const GstFlowReturn flow = filter.queue().flow();
  const bool is_error = flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS;
  if (is_error && !filter.error_posted().exchange(true)) GST_ELEMENT_FLOW_ERROR(transform, flow);
}

/// Events that belong between two frames wait until those before them have gone on.
gboolean sink_event(GstBaseTransform* transform, GstEvent* event) {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START) return begin_flush(transform, event);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) return end_flush(transform, event);
  if (GST_EVENT_IS_SERIALIZED(event)) filter_of(transform).queue().drain();
  if (const std::shared_ptr<MapsInput> maps = filter_of(transform).maps()) {
    if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) maps->end_frames();
    if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START) maps->begin_frames();
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS) {
    // Errors of the end belong to frames before, which have gone on.
    streaming(transform, gboolean{FALSE}, [&] {
      filter_of(transform).end_stream();
      return gboolean{TRUE};
    });
    post_flow_error(transform);
  }
  return chain_up(transform, event);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange change) {
  if (const std::shared_ptr<MapsInput> maps = filter_of(element).maps()) {
    if (change == GST_STATE_CHANGE_READY_TO_PAUSED) maps->set_flushing(false);
    if (change == GST_STATE_CHANGE_PAUSED_TO_READY) maps->set_flushing(true);
  }
  return GST_ELEMENT_CLASS(contorno_filter_parent_class)->change_state(element, change);
}

/// Adds the way of the maps, for which frames wait, if it is the longer one.
void add_latency_of_maps(GstElement* element, GstQuery* query) {
  GstPad* pad = gst_element_get_static_pad(element, "maps");
  if (pad == nullptr) return;
  GstQuery* other = gst_query_new_latency();
  if (gst_pad_peer_query(pad, other) != 0) {
    gboolean live = FALSE, maps_live = FALSE;
    GstClockTime least = 0, most = 0, maps_least = 0, maps_most = 0;
    gst_query_parse_latency(query, &live, &least, &most);
    gst_query_parse_latency(other, &maps_live, &maps_least, &maps_most);
    if (maps_live != 0)
      gst_query_set_latency(query, TRUE, std::max(least, maps_least), std::min(most, maps_most));
  }
  gst_query_unref(other);
  gst_object_unref(pad);
}

/// Adds the time that frames may be in the slots.
void add_latency_of_slots(const Filter& filter, GstQuery* query) {
  gboolean live = FALSE;
  GstClockTime least = 0, most = 0;
  gst_query_parse_latency(query, &live, &least, &most);
  const GstClockTime own = filter.latency();
  gst_query_set_latency(query, live, least + own, GST_CLOCK_TIME_IS_VALID(most) ? most + own : most);
}

gboolean query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_SCHEDULING && direction == GST_PAD_SRC) {
    gst_query_set_scheduling(query, GST_SCHEDULING_FLAG_SEQUENTIAL, 1, -1, 0);
    gst_query_add_scheduling_mode(query, GST_PAD_MODE_PUSH);
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_DRAIN) filter_of(transform).queue().drain();
  const gboolean known =
      GST_BASE_TRANSFORM_CLASS(contorno_filter_parent_class)->query(transform, direction, query);
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY || known == 0) return known;
  add_latency_of_maps(GST_ELEMENT(transform), query);
  add_latency_of_slots(filter_of(transform), query);
  return known;
}

GObject* child_by_index(GstChildProxy* proxy, guint index) {
  return filter_of(proxy).node(index);
}

GObject* child_by_name(GstChildProxy* proxy, const gchar* name) {
  return filter_of(proxy).node(std::string(name));
}

guint children_count(GstChildProxy* proxy) {
  return filter_of(proxy).node_count();
}

void init_child_proxy(gpointer interface, gpointer) {
  auto* proxy = static_cast<GstChildProxyInterface*>(interface);
  proxy->get_child_by_index = child_by_index;
  proxy->get_child_by_name = child_by_name;
  proxy->get_children_count = children_count;
}

void contorno_filter_class_init(ContornoClass* type_class) {
  GObjectClass* object_class = G_OBJECT_CLASS(type_class);
  object_class->finalize = finalize;
  install_filter_properties(object_class);
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  gst_element_class_set_static_metadata(element_class, "Contours of classes", "Filter/Analyzer/Effect/Video",
                                        "Finds the contours of classes in video frames with sub-pixel "
                                        "points, draws them and attaches them to the buffers",
                                        "The contorno authors");
  add_pad_template(element_class, "sink", GST_PAD_SINK, kCaps);
  add_pad_template(element_class, "src", GST_PAD_SRC, kCaps);
  install_maps_pad(element_class);
  element_class->change_state = change_state;
  auto* base = GST_BASE_TRANSFORM_CLASS(type_class);
  base->start = start;
  base->stop = stop;
  base->transform_caps = transform_caps;
  base->set_caps = set_caps;
  base->propose_allocation = propose_allocation;
  base->decide_allocation = decide_allocation;
  base->submit_input_buffer = submit_input_buffer;
  base->generate_output = generate_output;
  base->transform_ip = transform_ip;
  base->sink_event = sink_event;
  base->query = query;
}

void contorno_filter_init(Contorno* object) {
  object->filter = new Filter(GST_ELEMENT(object));
  gst_base_transform_set_in_place(GST_BASE_TRANSFORM(object), TRUE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(object), TRUE);
  install_source_pad(object);
}

}  // namespace

GType filter_get_type() {
  return contorno_filter_get_type();
}

}  // namespace contorno::gst
