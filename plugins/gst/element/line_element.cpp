// The element inside `contornosrc` that paints frames and pushes them. It pushes the true maps of each frame
// first, on a pad of another element: the base class wants to have one pad.
#include <gst/base/gstpushsrc.h>
#include <gst/video/video.h>

#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "plugins/gst/element/guard.h"
#include "plugins/gst/element/line_element.h"
#include "plugins/gst/element/log.h"
#include "plugins/gst/element/maps_caps.h"
#include "plugins/gst/element/param_property.h"
#include "plugins/gst/element/plugin.h"
#include "plugins/synthetic/sources.h"

namespace contorno::gst {
namespace {

/// Others are what the base class has properties for itself.
bool is_property(const ParamSpec& spec) {
  return spec.name != "live" && spec.name != "frames";
}

struct SourceState {
  std::mutex mutex;  // guards params
  ParamSet params{synthetic_source().params};
  std::unique_ptr<Source> source;
  std::vector<std::byte> unused_maps;  // where they are painted when nobody asks for them
  GstPad* maps_pad = nullptr;          // borrowed; guarded by the element's object lock
  bool maps_began = false;
  GstBuffer* pending_maps = nullptr;  // maps of the frame that was painted last, until they are pushed
  guint64 next = 0;                   // number of the next frame
};

struct ContornoLine {
  GstPushSrc parent;
  SourceState* state;
};
struct ContornoLineClass {
  GstPushSrcClass parent_class;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE(ContornoLine, contorno_line, GST_TYPE_PUSH_SRC)

SourceState& state_of(gpointer object) {
  return *static_cast<ContornoLine*>(object)->state;
}

const ParamSpec& spec_of(guint property) {
  return synthetic_source().params.specs.at(property - 1);
}

/// The number of the property is-live, which follows those of the parameters.
guint is_live_number() {
  return static_cast<guint>(synthetic_source().params.specs.size() + 1);
}

void set_property(GObject* object, guint property, const GValue* value, GParamSpec*) {
  guarded(GST_ELEMENT(object), false, [&] {
    if (property == is_live_number()) {
      gst_base_src_set_live(GST_BASE_SRC(object), g_value_get_boolean(value));
      return true;
    }
    SourceState& state = state_of(object);
    const std::lock_guard lock(state.mutex);
    set_from_gvalue("contornosrc", spec_of(property), value, state.params);
    return true;
  });
}

void get_property(GObject* object, guint property, GValue* value, GParamSpec*) {
  if (property == is_live_number())
    return g_value_set_boolean(value, gst_base_src_is_live(GST_BASE_SRC(object)));
  SourceState& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  to_gvalue(spec_of(property), state.params.get(spec_of(property).name), value);
}

StreamFormat format_of(SourceState& state) {
  const std::lock_guard lock(state.mutex);
  return synthetic_source().foretell(state.params);
}

GstCaps* get_caps(GstBaseSrc* base, GstCaps* filter) {
  return guarded(GST_ELEMENT(base), static_cast<GstCaps*>(nullptr), [&] {
    const StreamFormat format = format_of(state_of(base));
    GstCaps* caps =
        gst_caps_new_simple("video/x-raw", "format", G_TYPE_STRING, "RGBA", "width", G_TYPE_INT,
                            format.frame->width, "height", G_TYPE_INT, format.frame->height, "framerate",
                            GST_TYPE_FRACTION, format.rate_numerator, format.rate_denominator, nullptr);
    if (filter == nullptr) return caps;
    GstCaps* both = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(caps);
    return both;
  });
}

gboolean start(GstBaseSrc* base) {
  return guarded(GST_ELEMENT(base), gboolean{FALSE}, [&] {
    SourceState& state = state_of(base);
    const std::lock_guard lock(state.mutex);
    state.source = synthetic_source().make(state.params);
    state.unused_maps.resize(maps_bytes(*state.source->format().maps));
    state.maps_began = false;
    state.next = 0;
    return gboolean{TRUE};
  });
}

gboolean stop(GstBaseSrc* base) {
  SourceState& state = state_of(base);
  state.source.reset();
  if (GstBuffer* maps = std::exchange(state.pending_maps, nullptr)) gst_buffer_unref(maps);
  return TRUE;
}

/// The base class waits for these times of the clock when the source is live.
void get_times(GstBaseSrc* base, GstBuffer* buffer, GstClockTime* start_time, GstClockTime* end_time) {
  if (gst_base_src_is_live(base) == 0) return;
  *start_time = GST_BUFFER_PTS(buffer);
  *end_time = *start_time + GST_BUFFER_DURATION(buffer);
}

GstPad* maps_pad_of(ContornoLine* object) {
  GST_OBJECT_LOCK(object);
  GstPad* pad = object->state->maps_pad;
  if (pad != nullptr) gst_object_ref(pad);
  GST_OBJECT_UNLOCK(object);
  return pad;
}

/// Pushes the events that have to come before the first maps.
void begin_maps(ContornoLine* object, GstPad* pad) {
  SourceState& state = *object->state;
  if (std::exchange(state.maps_began, true)) return;
  gchar* id = gst_pad_create_stream_id(pad, GST_PAD_PARENT(pad), "maps");
  gst_pad_push_event(pad, gst_event_new_stream_start(id));
  g_free(id);
  GstCaps* caps = maps_caps(*state.source->format().maps, state.source->format());
  gst_pad_push_event(pad, gst_event_new_caps(caps));
  gst_caps_unref(caps);
  gst_pad_push_event(pad, gst_event_new_segment(&GST_BASE_SRC(object)->segment));
}

/// A buffer's memory, mapped for writing.
class Writable {
 public:
  explicit Writable(GstBuffer* buffer) : buffer_(buffer) {
    if (gst_buffer_map(buffer, &map_, GST_MAP_WRITE) == 0)
      throw Error(ExitCode::OutOfMemory, "a buffer cannot be mapped");
  }
  ~Writable() { gst_buffer_unmap(buffer_, &map_); }
  Writable(const Writable&) = delete;
  Writable& operator=(const Writable&) = delete;
  void* data() const { return map_.data; }

 private:
  GstBuffer* buffer_;
  GstMapInfo map_;
};

void set_times(GstBuffer* buffer, const FrameInfo& info, const StreamFormat& format, guint64 number) {
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(info.pts_ns);
  GST_BUFFER_DURATION(buffer) =
      gst_util_uint64_scale_int(GST_SECOND, format.rate_denominator, format.rate_numerator);
  GST_BUFFER_OFFSET(buffer) = number;
  GST_BUFFER_OFFSET_END(buffer) = number + 1;
}

/// Paints the next frame into `frame`, and its maps into `maps`, or nowhere where that is null.
void paint(SourceState& state, GstBuffer* frame, GstBuffer* maps) {
  const StreamFormat& format = state.source->format();
  FrameInput input;
  const Writable pixels(frame);
  std::optional<Writable> samples;
  if (maps != nullptr) samples.emplace(maps);
  input.frame = {pixels.data(), *format.frame, static_cast<std::ptrdiff_t>(format.frame->row_bytes()), 0};
  input.maps = maps_view(samples ? samples->data() : state.unused_maps.data(), *format.maps);
  state.source->read(input);
  const guint64 number = state.next++;
  set_times(frame, input.info, format, number);
  if (maps != nullptr) set_times(maps, input.info, format, number);
}

/// Pushes the maps of a frame that is about to go, with its time: the base class moves those of live sources.
GstPadProbeReturn push_maps(GstPad*, GstPadProbeInfo* info, gpointer data) {
  auto* object = static_cast<ContornoLine*>(data);
  GstBuffer* maps = std::exchange(object->state->pending_maps, nullptr);
  if (maps == nullptr) return GST_PAD_PROBE_OK;
  GST_BUFFER_PTS(maps) = GST_BUFFER_PTS(GST_PAD_PROBE_INFO_BUFFER(info));
  if (GstPad* pad = maps_pad_of(object)) {
    begin_maps(object, pad);
    gst_pad_push(pad, maps);  // whoever takes the maps may end before those who take the frames
    gst_object_unref(pad);
  } else {
    gst_buffer_unref(maps);
  }
  return GST_PAD_PROBE_OK;
}

GstFlowReturn create(GstPushSrc* push, GstBuffer** out) {
  return guarded(GST_ELEMENT(push), GST_FLOW_ERROR, [&] {
    auto* object = static_cast<ContornoLine*>(static_cast<gpointer>(push));
    SourceState& state = *object->state;
    const StreamFormat& format = state.source->format();
    GstBuffer* frame = gst_buffer_new_allocate(
        nullptr, format.frame->row_bytes() * static_cast<std::size_t>(format.frame->height), nullptr);
    GstPad* pad = maps_pad_of(object);
    GstBuffer* maps =
        pad != nullptr ? gst_buffer_new_allocate(nullptr, maps_bytes(*format.maps), nullptr) : nullptr;
    GST_LOG_OBJECT(push, "paints frame %" G_GUINT64_FORMAT "%s", state.next,
                   maps != nullptr ? " and its maps" : "");
    paint(state, frame, maps);
    if (pad != nullptr) gst_object_unref(pad);
    state.pending_maps = maps;
    *out = frame;
    return GST_FLOW_OK;
  });
}

/// Sends events that end or flush the frames to the pad of the maps, too.
GstPadProbeReturn forward_event(GstPad*, GstPadProbeInfo* info, gpointer object) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type != GST_EVENT_EOS && type != GST_EVENT_FLUSH_START && type != GST_EVENT_FLUSH_STOP)
    return GST_PAD_PROBE_OK;
  if (GstPad* pad = maps_pad_of(static_cast<ContornoLine*>(object))) {
    gst_pad_push_event(pad, gst_event_ref(event));
    gst_object_unref(pad);
  }
  return GST_PAD_PROBE_OK;
}

void finalize(GObject* object) {
  delete static_cast<ContornoLine*>(static_cast<gpointer>(object))->state;
  G_OBJECT_CLASS(contorno_line_parent_class)->finalize(object);
}

void contorno_line_class_init(ContornoLineClass* type_class) {
  GObjectClass* object_class = G_OBJECT_CLASS(type_class);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_line_properties(object_class);
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  gst_element_class_set_static_metadata(element_class, "Synthetic sorting line, frames", "Source/Video",
                                        "Paints the frames of contornosrc", "The contorno authors");
  add_pad_template(element_class, "src", GST_PAD_SRC, GST_VIDEO_CAPS_MAKE("RGBA"));
  auto* base = GST_BASE_SRC_CLASS(type_class);
  base->get_caps = get_caps;
  base->start = start;
  base->stop = stop;
  base->get_times = get_times;
  GST_PUSH_SRC_CLASS(type_class)->create = create;
}

void contorno_line_init(ContornoLine* object) {
  object->state = new SourceState;
  gst_base_src_set_format(GST_BASE_SRC(object), GST_FORMAT_TIME);
  gst_base_src_set_live(GST_BASE_SRC(object), TRUE);
  gst_pad_add_probe(GST_BASE_SRC_PAD(object), GST_PAD_PROBE_TYPE_BUFFER, push_maps, object, nullptr);
  gst_pad_add_probe(
      GST_BASE_SRC_PAD(object),
      static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH),
      forward_event, object, nullptr);
}

}  // namespace

guint install_line_properties(GObjectClass* object_class) {
  const ParamSet defaults(synthetic_source().params);
  const std::vector<ParamSpec>& specs = synthetic_source().params.specs;
  for (std::size_t i = 0; i < specs.size(); ++i)
    if (is_property(specs[i]))
      g_object_class_install_property(object_class, static_cast<guint>(i + 1),
                                      property_of("src", specs[i], defaults.get(specs[i].name)));
  g_object_class_install_property(
      object_class, is_live_number(),
      g_param_spec_boolean(
          "is-live", "Is live",
          "Whether frames come at their times, as from a camera, not as fast as they are taken", TRUE,
          static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_READY)));
  return is_live_number();
}

GType line_get_type() {
  return contorno_line_get_type();
}

void set_maps_pad(GstElement* line, GstPad* pad) {
  GST_OBJECT_LOCK(line);
  state_of(line).maps_pad = pad;
  GST_OBJECT_UNLOCK(line);
}

}  // namespace contorno::gst
