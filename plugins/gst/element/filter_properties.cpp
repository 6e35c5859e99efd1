// The properties of the element `contorno`.
#include "plugins/gst/element/filter_object.h"
#include "plugins/gst/element/guard.h"

namespace contorno::gst {
namespace {

enum Property : guint {
  kConfig = 1,
  kBackend,
  kOverlay,
  kClasses,
  kSlots,
  kDeadline,
  kLateFrames,
  kRegions,
  kMapsTimeout,
  kMapsMissing,
  kMapsTensor,
  kStatsInterval,
  kStats
};
enum BackendChoiceWord : gint { kAsConfigured, kAuto, kCpu, kCuda };

GType backend_type() {
  static const GEnumValue words[] = {{kAsConfigured, "As the configuration says", "config"},
                                     {kAuto, "CUDA where it can run, else the CPU", "auto"},
                                     {kCpu, "The CPU", "cpu"},
                                     {kCuda, "A GPU, by CUDA", "cuda"},
                                     {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("ContornoBackend", words);
  return type;
}

GType missing_maps_type() {
  static const GEnumValue words[] = {
      {static_cast<gint>(MissingMaps::Pass), "The frame goes on without contours", "pass"},
      {static_cast<gint>(MissingMaps::Drop), "The frame is dropped", "drop"},
      {static_cast<gint>(MissingMaps::Error), "The stream ends with an error", "error"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("ContornoMissingMaps", words);
  return type;
}

GType late_frames_type() {
  static const GEnumValue words[] = {
      {static_cast<gint>(LateFrames::Pass), "They are worked on all the same", "pass"},
      {static_cast<gint>(LateFrames::Drop), "They are dropped", "drop"},
      {0, nullptr, nullptr}};
  static const GType type = g_enum_register_static("ContornoLateFrames", words);
  return type;
}

std::optional<Backend> backend_of(gint word) {
  switch (word) {
    case kAuto:
      return Backend::Auto;
    case kCpu:
      return Backend::Cpu;
    case kCuda:
      return Backend::Cuda;
    default:
      return std::nullopt;
  }
}

gint word_of(const std::optional<Backend>& backend) {
  if (!backend) return kAsConfigured;
  return *backend == Backend::Auto ? kAuto : *backend == Backend::Cpu ? kCpu : kCuda;
}

void change(Filter& filter, guint property, const GValue* value) {
  switch (property) {
    case kConfig:
      return filter.set_config(g_value_get_string(value));
    case kBackend:
      return filter.set([&](FilterSettings& s) { s.backend = backend_of(g_value_get_enum(value)); });
    case kOverlay:
      return filter.set([&](FilterSettings& s) { s.overlay = g_value_get_boolean(value) != 0; });
    case kClasses:
      return filter.set([&](FilterSettings& s) {
        const char* text = g_value_get_string(value);
        s.classes = text != nullptr ? text : "";
      });
    case kSlots:
      return filter.set([&](FilterSettings& s) { s.slots = g_value_get_uint(value); });
    case kDeadline:
      return filter.set([&](FilterSettings& s) { s.deadline = g_value_get_uint64(value); });
    case kLateFrames:
      return filter.set(
          [&](FilterSettings& s) { s.late_frames = static_cast<LateFrames>(g_value_get_enum(value)); });
    case kRegions:
      return filter.set([&](FilterSettings& s) { s.regions = g_value_get_boolean(value) != 0; });
    case kMapsTimeout:
      return filter.set([&](FilterSettings& s) { s.maps_timeout = g_value_get_uint64(value); });
    case kMapsMissing:
      return filter.set(
          [&](FilterSettings& s) { s.maps_missing = static_cast<MissingMaps>(g_value_get_enum(value)); });
    case kMapsTensor:
      return filter.set([&](FilterSettings& s) {
        const char* id = g_value_get_string(value);
        s.maps_tensor = id != nullptr && *id != '\0' ? g_quark_from_string(id) : 0;
      });
    case kStatsInterval:
      return filter.set([&](FilterSettings& s) { s.stats_interval = g_value_get_uint64(value); });
    default:
      return;
  }
}

void set_property(GObject* object, guint property, const GValue* value, GParamSpec*) {
  guarded(GST_ELEMENT(object), false, [&] {
    change(filter_of(object), property, value);
    return true;
  });
}

void get_property(GObject* object, guint property, GValue* value, GParamSpec*) {
  const FilterSettings settings = filter_of(object).settings();
  switch (property) {
    case kConfig:
      return g_value_set_string(value, settings.config.c_str());
    case kBackend:
      return g_value_set_enum(value, word_of(settings.backend));
    case kOverlay:
      return g_value_set_boolean(value, static_cast<gboolean>(settings.overlay));
    case kClasses:
      return g_value_set_string(value, settings.classes.c_str());
    case kSlots:
      return g_value_set_uint(value, settings.slots);
    case kDeadline:
      return g_value_set_uint64(value, settings.deadline);
    case kLateFrames:
      return g_value_set_enum(value, static_cast<gint>(settings.late_frames));
    case kRegions:
      return g_value_set_boolean(value, static_cast<gboolean>(settings.regions));
    case kMapsTimeout:
      return g_value_set_uint64(value, settings.maps_timeout);
    case kMapsMissing:
      return g_value_set_enum(value, static_cast<gint>(settings.maps_missing));
    case kMapsTensor:
      return g_value_set_string(value,
                                settings.maps_tensor != 0 ? g_quark_to_string(settings.maps_tensor) : "");
    case kStatsInterval:
      return g_value_set_uint64(value, settings.stats_interval);
    case kStats:
      return g_value_take_boxed(value, filter_of(object).accounts().to_structure("contorno-stats"));
    default:
      return;
  }
}

}  // namespace

void install_filter_properties(GObjectClass* object_class) {
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  const auto at_work =
      static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);
  const auto add = [&](guint number, GParamSpec* spec) {
    g_object_class_install_property(object_class, number, spec);
  };
  add(kConfig,
      g_param_spec_string(
          "config", "Configuration",
          "Path of a graph's YAML file, or its text: classes and stages. A source and sinks in it are not "
          "used. Its nodes become children, whose parameters are properties: overlay::line-width",
          "", at_work));
  add(kBackend, g_param_spec_enum("backend", "Backend", "What the stages run on", backend_type(),
                                  kAsConfigured, at_work));
  add(kOverlay,
      g_param_spec_boolean("overlay", "Overlay",
                           "Whether the contours are drawn on the frame; if not, its pixels pass untouched",
                           TRUE, at_work));
  add(kClasses,
      g_param_spec_string(
          "classes", "Classes",
          "Names of the classes whose contours are drawn and attached, with commas between them; empty: all",
          "", at_work));
  add(kSlots, g_param_spec_uint(
                  "slots", "Slots",
                  "Frames that are in work at once; each but one adds a frame's time to the latency of a "
                  "live pipeline. 0: as the configuration says",
                  0, FrameQueue::kMost, 0, at_work));
  add(kDeadline, g_param_spec_uint64("deadline", "Deadline",
                                     "Time from a frame's arrival to its result, in ns; one that takes "
                                     "longer is counted as late, and reported in a "
                                     "message. 0: as the configuration says",
                                     0, G_MAXINT64, 0, at_work));
  add(kLateFrames,
      g_param_spec_enum(
          "late-frames", "Late frames",
          "What becomes of frames that have waited for longer than the deadline before their work "
          "begins",
          late_frames_type(), static_cast<gint>(LateFrames::Pass), at_work));
  add(kRegions,
      g_param_spec_boolean(
          "regions", "Regions of interest",
          "Whether each contour is attached as a GstVideoRegionOfInterestMeta, and where GStreamer has its "
          "analytics library as a detected object, beside the ContornoMeta with all of them",
          TRUE, at_work));
  add(kMapsTimeout, g_param_spec_uint64("maps-timeout", "Timeout of maps",
                                        "Time that a frame waits for its maps on the pad maps, in ns", 0,
                                        G_MAXINT64, FilterSettings().maps_timeout, at_work));
  add(kMapsMissing,
      g_param_spec_enum("maps-missing", "Missing maps", "What becomes of a frame whose maps do not come",
                        missing_maps_type(), static_cast<gint>(MissingMaps::Pass), at_work));
  add(kMapsTensor,
      g_param_spec_string(
          "maps-tensor", "Tensor of the maps",
          "Name (id) of the tensor on the frames' buffers that has the maps, where the pad maps is not used "
          "(GstTensorMeta of GStreamer 1.26); empty: none",
          "", at_work));
  add(kStatsInterval,
      g_param_spec_uint64("stats-interval", "Interval of statistics",
                          "Time between messages contorno-stats with the statistics, in ns; 0: none", 0,
                          G_MAXINT64, 0, at_work));
  add(kStats, g_param_spec_boxed("stats", "Statistics",
                                 "Frames since the start: in = out + failed + dropped; late, regrown, "
                                 "contours, interlaced; latency-p50, -p99 and "
                                 "-max in ns",
                                 GST_TYPE_STRUCTURE,
                                 static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)));
  gst_type_mark_as_plugin_api(backend_type(), GstPluginAPIFlags{});
  gst_type_mark_as_plugin_api(late_frames_type(), GstPluginAPIFlags{});
  gst_type_mark_as_plugin_api(missing_maps_type(), GstPluginAPIFlags{});
}

}  // namespace contorno::gst
