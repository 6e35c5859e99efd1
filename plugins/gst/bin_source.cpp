// The source gst: an element that the graph names, or a launch line, as one more way to begin a
// FramePipeline.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "pipeline/graph/param.h"
#include "pipeline/shared/printable.h"
#include "plugins/gst/launch_line.h"
#include "plugins/gst/parts.h"
#include "plugins/gst/stream_source.h"

namespace contorno::gst {
namespace {

struct FreeWords {
  void operator()(gchar** words) const { g_strfreev(words); }
};

Error refused(const std::string& sentence) {
  return {ExitCode::BadConfig, sentence};
}

/// The names of all sources that are installed.
std::vector<std::string> installed_sources() {
  std::vector<std::string> names;
  GList* factories = gst_element_factory_list_get_elements(GST_ELEMENT_FACTORY_TYPE_SRC, GST_RANK_NONE);
  for (const GList* item = factories; item != nullptr; item = item->next)
    names.emplace_back(GST_OBJECT_NAME(item->data));
  gst_plugin_feature_list_free(factories);
  return names;
}

/// Whether the element has an output from the beginning and needs no input.
bool is_source(GstElementFactory* factory) {
  bool gives = false;
  for (const GList* item = gst_element_factory_get_static_pad_templates(factory); item != nullptr;
       item = item->next) {
    const auto* pad = static_cast<const GstStaticPadTemplate*>(item->data);
    if (pad->direction == GST_PAD_SINK && pad->presence == GST_PAD_ALWAYS) return false;
    gives = gives || (pad->direction == GST_PAD_SRC && pad->presence == GST_PAD_ALWAYS);
  }
  return gives && gst_element_factory_list_is_type(factory, GST_ELEMENT_FACTORY_TYPE_SRC) != FALSE;
}

void refuse_other_elements(const std::string& name) {
  const Owned<GstElementFactory> factory(gst_element_factory_find(name.c_str()));
  if (!factory) {
    if (!package_of(name).empty()) require_element(name.c_str());
    const std::string meant = nearest(name, installed_sources());
    throw Error(ExitCode::Unavailable,
                fmt::format("there is no element '{}' on this machine{}; 'gst-inspect-1.0' lists those that "
                            "are installed",
                            name, meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant)));
  }
  if (!is_source(factory.get()))
    throw refused(
        fmt::format("the element '{}' is no source with an output of its own ({}); put elements "
                    "behind each other with 'launch'",
                    name, gst_element_factory_get_metadata(factory.get(), "klass")));
}

std::vector<std::string> property_names(GstElement* element) {
  std::vector<std::string> names;
  guint count = 0;
  GParamSpec** specs = g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
  for (guint i = 0; i < count; ++i) names.emplace_back(specs[i]->name);
  g_free(static_cast<gpointer>(specs));
  return names;
}

/// Sets one property from its text. Objects are refused: the text of one would be a launch line.
void set_property(GstElement* element, const std::string& owner, const std::string& name,
                  const std::string& text) {
  GParamSpec* spec = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name.c_str());
  if (spec == nullptr) {
    const std::string meant = nearest(name, property_names(element));
    throw refused(fmt::format("'{}' has no property '{}'{}; 'gst-inspect-1.0 {}' lists them", owner, name,
                              meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant), owner));
  }
  if ((spec->flags & G_PARAM_WRITABLE) == 0 || G_TYPE_IS_OBJECT(spec->value_type) ||
      G_TYPE_FUNDAMENTAL(spec->value_type) == G_TYPE_POINTER)
    throw refused(fmt::format("the property '{}' of '{}' cannot be set by a text", name, owner));
  GValue value = G_VALUE_INIT;
  g_value_init(&value, spec->value_type);
  bool fits = true;
  if (spec->value_type == G_TYPE_STRING)
    g_value_set_string(&value, text.c_str());
  else
    fits = gst_value_deserialize(&value, text.c_str()) != FALSE;
  fits = fits && g_param_value_validate(spec, &value) == FALSE;  // which would have changed it
  if (fits) g_object_set_property(G_OBJECT(element), name.c_str(), &value);
  g_value_unset(&value);
  if (!fits)
    throw refused(
        fmt::format("the property '{}' of '{}' is '{}', allowed is what 'gst-inspect-1.0 {}' says of it ({})",
                    name, owner, is_secret_name(name) ? "***" : text, owner, g_type_name(spec->value_type)));
}

void set_properties(GstElement* element, const std::string& owner, const std::string& properties) {
  if (properties.find_first_not_of(" \t\n") == std::string::npos) return;
  gint count = 0;
  gchar** raw = nullptr;
  GError* error = nullptr;
  if (!g_shell_parse_argv(properties.c_str(), &count, &raw, &error)) {
    const Owned<GError> owned(error);
    throw refused(fmt::format("properties is '{}', allowed is NAME=VALUE with blanks between them: {}",
                              properties, owned->message));
  }
  const std::unique_ptr<gchar*, FreeWords> words(raw);
  for (gint i = 0; i < count; ++i) {
    const std::string word = raw[i];
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      throw refused(fmt::format("properties has '{}', allowed is NAME=VALUE with blanks between them", word));
    set_property(element, owner, word.substr(0, equals), word.substr(equals + 1));
  }
}

/// The bin of a launch line, inside `pipeline`. Its one open output is its pad `src`.
GstElement* add_launch_line(GstBin* pipeline, const std::string& line) {
  GstElement* bin = parse_launch_line(line, OpenPads::Ghosted);
  gst_bin_add(pipeline, bin);
  if (bin->numsinkpads > 0)
    throw refused("the launch line begins with an element that waits for an input, allowed is a source");
  if (bin->numsrcpads == 0)
    throw refused(
        "the launch line has no open output, allowed is one; behind an element whose output comes "
        "later, such as uridecodebin, write '! queue'");
  return bin;
}

/// The caps that the graph asks for; null for none.
Owned<GstCaps> wanted_caps(const std::string& text) {
  if (text.empty()) return nullptr;
  Owned<GstCaps> caps(gst_caps_from_string(text.c_str()));
  if (!caps || gst_caps_is_empty(caps.get()) || gst_caps_is_any(caps.get()))
    throw refused(fmt::format(
        "caps is '{}', allowed is a format as GStreamer writes it: video/x-raw,width=1280,height=720", text));
  return caps;
}

void refuse_impossible(GstElement* source, GstCaps* caps, const std::string& text) {
  const Owned<GstPad> pad(gst_element_get_static_pad(source, "src"));
  if (!pad || caps == nullptr) return;
  const Owned<GstCaps> possible(gst_pad_query_caps(pad.get(), nullptr));
  if (gst_caps_can_intersect(possible.get(), caps)) return;
  const Owned<gchar> given(gst_caps_to_string(possible.get()));
  std::string offered = given.get();
  constexpr std::size_t kMost = 300;
  if (offered.size() > kMost) offered = offered.substr(0, kMost) + " ...";
  throw refused(fmt::format("caps is '{}', which the source does not give, allowed is: {}", text, offered));
}

/// The element that the frames come from; calls `doing` with the parameter that it looks at next.
template <class Doing>
GstElement* add_source(FramePipeline& pipeline, const GstSourceParams& params, const Doing& doing) {
  GstElement* source = nullptr;
  if (params.launch.empty()) {
    doing("element");
    refuse_other_elements(params.element);
    source = pipeline.add(params.element.c_str());
    doing("properties");
    set_properties(source, params.element, params.properties);
  } else {
    doing("launch");
    source = add_launch_line(GST_BIN(pipeline.pipeline()), params.launch);
  }
  doing("caps");
  const Owned<GstCaps> caps = wanted_caps(params.caps);
  if (!caps) return source;
  refuse_impossible(source, caps.get(), params.caps);
  GstElement* filter = pipeline.add("capsfilter");
  g_object_set(filter, "caps", caps.get(), nullptr);
  link({source, filter});
  return filter;
}

constexpr auto kIgnored = [](const char*) {};

}  // namespace

void try_gst_source(const GstSourceParams& params, const ParamTrial& trial) {
  const char* at = "element";
  try {
    FramePipeline pipeline;
    add_source(pipeline, params, [&at](const char* param) { at = param; });
  } catch (const InternalError&) {
    throw;
  } catch (const Error& error) {
    trial.refuse(at, error.code(), error.what());
  }
}

std::unique_ptr<Source> make_gst_source(const GstSourceParams& params) {
  ensure_init();
  require_memory_for_decoding();
  const std::string& named = params.launch.empty() ? params.element : params.launch;
  return std::make_unique<StreamSource>(StreamPlan{
      .build =
          [params](FramePipeline& pipeline) {
            pipeline.decode_behind(add_source(pipeline, params, kIgnored));
          },
      .subject = params.launch.empty() ? params.element : "the launch line",
      .description = "gst " + named,
      .timeout_ms = params.timeout,
      .playback = params.playback(),
      .limit = params.limit,
      .reconnect_attempts = params.reconnect_attempts,
  });
}

}  // namespace contorno::gst
