// The properties of the element `contorno`.
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "plugins/gst/element/filter_object.h"
#include "plugins/gst/element/guard.h"

namespace contorno::gst {
namespace {

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

// A setting as the value of a property, and back.
void read(const GValue* value, bool& setting) {
  setting = g_value_get_boolean(value) != 0;
}
void read(const GValue* value, guint& setting) {
  setting = g_value_get_uint(value);
}
void read(const GValue* value, guint64& setting) {
  setting = g_value_get_uint64(value);
}
void read(const GValue* value, std::string& setting) {
  const char* text = g_value_get_string(value);
  setting = text != nullptr ? text : "";
}
void read(const GValue* value, std::optional<Backend>& setting) {
  setting = backend_of(g_value_get_enum(value));
}
template <class E>
requires std::is_enum_v<E>
void read(const GValue* value, E& setting) {
  setting = static_cast<E>(g_value_get_enum(value));
}

void write(bool setting, GValue* value) {
  g_value_set_boolean(value, static_cast<gboolean>(setting));
}
void write(guint setting, GValue* value) {
  g_value_set_uint(value, setting);
}
void write(guint64 setting, GValue* value) {
  g_value_set_uint64(value, setting);
}
void write(const std::string& setting, GValue* value) {
  g_value_set_string(value, setting.c_str());
}
void write(const std::optional<Backend>& setting, GValue* value) {
  g_value_set_enum(value, word_of(setting));
}
template <class E>
requires std::is_enum_v<E>
void write(E setting, GValue* value) {
  g_value_set_enum(value, static_cast<gint>(setting));
}

struct Property {
  GParamSpec* spec;
  void (*change)(Filter&, const GValue*);  ///< null: it can only be read
  void (*show)(Filter&, GValue*);
};

/// A property that is a member of FilterSettings.
template <auto kMember>
Property setting(GParamSpec* spec) {
  return {spec,
          [](Filter& filter, const GValue* value) {
            filter.set([&](FilterSettings& settings) { read(value, settings.*kMember); });
          },
          [](Filter& filter, GValue* value) { write(filter.settings().*kMember, value); }};
}

constexpr auto kAtWork =
    static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS | GST_PARAM_MUTABLE_PLAYING);

Property configuration() {
  return {
      g_param_spec_string(
          "config", "Configuration",
          "Path of a graph's YAML file, or its text: classes and stages. A source and sinks in it are not "
          "used. Its nodes become children, whose parameters are properties: overlay::line-width",
          "", kAtWork),
      [](Filter& filter, const GValue* value) { filter.set_config(g_value_get_string(value)); },
      [](Filter& filter, GValue* value) { write(filter.settings().config, value); }};
}

Property extensions() {
  return {
      g_param_spec_string(
          "load", "Extensions",
          "Absolute paths, with ':' between them, of libraries with stages of others that the configuration "
          "may have; what was loaded stays loaded",
          "", kAtWork),
      [](Filter& filter, const GValue* value) { filter.set_load(g_value_get_string(value)); },
      [](Filter& filter, GValue* value) { write(filter.settings().load, value); }};
}

Property tensor_of_maps() {
  return {g_param_spec_string(
              "maps-tensor", "Tensor of the maps",
              "Name (id) of the tensor on the frames' buffers that has the maps, where the pad maps is not "
              "used (GstTensorMeta of GStreamer 1.26); empty: none",
              "", kAtWork),
          [](Filter& filter, const GValue* value) {
            const char* id = g_value_get_string(value);
            const GQuark quark = id != nullptr && *id != '\0' ? g_quark_from_string(id) : 0;
            filter.set([&](FilterSettings& settings) { settings.maps_tensor = quark; });
          },
          [](Filter& filter, GValue* value) {
            const GQuark quark = filter.settings().maps_tensor;
            g_value_set_string(value, quark != 0 ? g_quark_to_string(quark) : "");
          }};
}

Property statistics() {
  return {g_param_spec_boxed(
              "stats", "Statistics",
              "Frames since the start: in = out + failed + dropped; late, regrown, contours, interlaced; "
              "latency-p50, -p99 and -max in ns",
              GST_TYPE_STRUCTURE, static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS)),
          nullptr, [](Filter& filter, GValue* value) {
            g_value_take_boxed(value, filter.accounts().to_structure("contorno-stats"));
          }};
}

/// All properties of the element. Property k + 1 of the class is entry k.
const std::vector<Property>& properties() {
  using S = FilterSettings;
  static const std::vector<Property> all{
      configuration(),
      extensions(),
      setting<&S::backend>(g_param_spec_enum("backend", "Backend", "What the stages run on", backend_type(),
                                             kAsConfigured, kAtWork)),
      setting<&S::overlay>(g_param_spec_boolean(
          "overlay", "Overlay",
          "Whether the contours are drawn on the frame; if not, its pixels pass untouched", TRUE, kAtWork)),
      setting<&S::classes>(g_param_spec_string(
          "classes", "Classes",
          "Names of the classes whose contours are drawn and attached, with commas between them; empty: all",
          "", kAtWork)),
      setting<&S::slots>(g_param_spec_uint(
          "slots", "Slots",
          "Frames that are in work at once; each but one adds a frame's time to the latency of a "
          "live pipeline. 0: as the configuration says",
          0, FrameQueue::kMost, 0, kAtWork)),
      setting<&S::deadline>(g_param_spec_uint64(
          "deadline", "Deadline",
          "Time from a frame's arrival to its result, in ns; one that takes longer is counted as late, and "
          "reported in a message. 0: as the configuration says",
          0, G_MAXINT64, 0, kAtWork)),
      setting<&S::late_frames>(g_param_spec_enum(
          "late-frames", "Late frames",
          "What becomes of frames that have waited for longer than the deadline before their work begins",
          late_frames_type(), static_cast<gint>(LateFrames::Pass), kAtWork)),
      setting<&S::regions>(g_param_spec_boolean(
          "regions", "Regions of interest",
          "Whether each contour is attached as a GstVideoRegionOfInterestMeta, and where GStreamer has its "
          "analytics library as a detected object, beside the ContornoMeta with all of them",
          TRUE, kAtWork)),
      setting<&S::maps_timeout>(g_param_spec_uint64(
          "maps-timeout", "Timeout of maps", "Time that a frame waits for its maps on the pad maps, in ns", 0,
          G_MAXINT64, S().maps_timeout, kAtWork)),
      setting<&S::maps_missing>(
          g_param_spec_enum("maps-missing", "Missing maps", "What becomes of a frame whose maps do not come",
                            missing_maps_type(), static_cast<gint>(MissingMaps::Pass), kAtWork)),
      tensor_of_maps(),
      setting<&S::stats_interval>(
          g_param_spec_uint64("stats-interval", "Interval of statistics",
                              "Time between messages contorno-stats with the statistics, in ns; 0: none", 0,
                              G_MAXINT64, 0, kAtWork)),
      statistics()};
  return all;
}

void set_property(GObject* object, guint property, const GValue* value, GParamSpec*) {
  guarded(GST_ELEMENT(object), false, [&] {
    properties().at(property - 1).change(filter_of(object), value);
    return true;
  });
}

void get_property(GObject* object, guint property, GValue* value, GParamSpec*) {
  properties().at(property - 1).show(filter_of(object), value);
}

}  // namespace

void install_filter_properties(GObjectClass* object_class) {
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  for (guint number = 1; const Property& property : properties())
    g_object_class_install_property(object_class, number++, property.spec);
  gst_type_mark_as_plugin_api(backend_type(), GstPluginAPIFlags{});
  gst_type_mark_as_plugin_api(late_frames_type(), GstPluginAPIFlags{});
  gst_type_mark_as_plugin_api(missing_maps_type(), GstPluginAPIFlags{});
}

}  // namespace contorno::gst
