#include "plugins/gst/elements.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <array>
#include <mutex>
#include <optional>

#include "base/error.h"
#include "pipeline/shared/resource_limits.h"
#include "plugins/shared/glib_writer.h"

namespace contorno::gst {
namespace {

/// What GStreamer's plugins, threads and small frames take; GLib ends the process where it does not get it.
constexpr std::size_t kAddressesForMedia = std::size_t{192} << 20;
constexpr int kThreadsForMedia = 12;

struct ElementPackage {
  std::string_view element, package;
};
constexpr std::string_view kCore = "libgstreamer1.0-0";
constexpr std::string_view kBase = "gstreamer1.0-plugins-base";
constexpr std::string_view kGood = "gstreamer1.0-plugins-good";
constexpr std::string_view kBad = "gstreamer1.0-plugins-bad";
constexpr std::string_view kUgly = "gstreamer1.0-plugins-ugly";
constexpr std::string_view kLibav = "gstreamer1.0-libav";
constexpr std::string_view kX = "gstreamer1.0-x";
constexpr std::array kPackages{
    ElementPackage{"filesrc", kCore},      ElementPackage{"capsfilter", kCore},
    ElementPackage{"fdsink", kCore},       ElementPackage{"appsrc", kBase},
    ElementPackage{"appsink", kBase},      ElementPackage{"uridecodebin", kBase},
    ElementPackage{"decodebin", kBase},    ElementPackage{"videoconvert", kBase},
    ElementPackage{"videotestsrc", kBase}, ElementPackage{"theoraenc", kBase},
    ElementPackage{"theoradec", kBase},    ElementPackage{"oggmux", kBase},
    ElementPackage{"oggdemux", kBase},     ElementPackage{"ximagesink", kX},
    ElementPackage{"xvimagesink", kX},     ElementPackage{"videoflip", kGood},
    ElementPackage{"v4l2src", kGood},      ElementPackage{"vp8enc", kGood},
    ElementPackage{"vp8dec", kGood},       ElementPackage{"jpegenc", kGood},
    ElementPackage{"jpegdec", kGood},      ElementPackage{"pngenc", kGood},
    ElementPackage{"pngdec", kGood},       ElementPackage{"webmmux", kGood},
    ElementPackage{"matroskamux", kGood},  ElementPackage{"matroskademux", kGood},
    ElementPackage{"avimux", kGood},       ElementPackage{"avidemux", kGood},
    ElementPackage{"mp4mux", kGood},       ElementPackage{"qtmux", kGood},
    ElementPackage{"qtdemux", kGood},      ElementPackage{"rtspsrc", kGood},
    ElementPackage{"souphttpsrc", kGood},  ElementPackage{"videoscale", kBase},
    ElementPackage{"avdec_h264", kLibav},  ElementPackage{"avdec_gif", kLibav},
    ElementPackage{"gdkpixbufdec", kGood}, ElementPackage{"avdec_tiff", kLibav},
    ElementPackage{"openh264enc", kBad},   ElementPackage{"h264parse", kBad},
    ElementPackage{"fdsrc", kCore},        ElementPackage{"tcpclientsrc", kBase},
    ElementPackage{"shmsrc", kBad},        ElementPackage{"x264enc", kUgly},
    ElementPackage{"nvh264enc", kBad},     ElementPackage{"vah264enc", kBad},
};

/// How much a process may take that has little memory on purpose: plugins fail to load in it whatever the
/// registry says.
std::optional<rlim_t> little_memory() {
  constexpr rlim_t kEnoughForEveryPlugin = rlim_t{1} << 31;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur >= kEnoughForEveryPlugin) return std::nullopt;
  return limit.rlim_cur;
}

/// GStreamer remembers in a file which plugins cannot be loaded, and never tries them again. One run with too
/// little memory would make most of them missing in every later one: they get another chance.
void forget_unusable_plugins() {
  if (little_memory()) return;
  GstRegistry* registry = gst_registry_get();
  GList* plugins = gst_registry_get_plugin_list(registry);
  bool forgotten = false;
  for (const GList* item = plugins; item != nullptr; item = item->next) {
    auto* plugin = GST_PLUGIN(item->data);
    if (!GST_OBJECT_FLAG_IS_SET(plugin, GST_PLUGIN_FLAG_BLACKLISTED)) continue;
    gst_registry_remove_plugin(registry, plugin);
    forgotten = true;
  }
  gst_plugin_list_free(plugins);
  if (forgotten) gst_update_registry();
}

}  // namespace

void ensure_init() {
  static std::once_flag once;
  std::call_once(once, [] {
    install_glib_writer();
    require_addresses(kAddressesForMedia, "for GStreamer");
    require_threads(kThreadsForMedia, "for GStreamer");
    GError* raw = nullptr;
    if (gst_init_check(nullptr, nullptr, &raw)) return forget_unusable_plugins();
    Owned<GError> error(raw);
    throw Error(ExitCode::Unavailable,
                fmt::format("GStreamer does not start: {}", error ? error->message : "no reason given"));
  });
}

std::string_view package_of(std::string_view element) {
  for (const auto& entry : kPackages)
    if (entry.element == element) return entry.package;
  return {};
}

bool has_element(const char* name) {
  Owned<GstElementFactory> factory(gst_element_factory_find(name));
  return factory != nullptr;
}

Error blaming_memory(const Error& error) {
  const std::optional<rlim_t> limit = little_memory();
  if (!limit) return error;
  return {error.code() == ExitCode::Unavailable ? ExitCode::OutOfMemory : error.code(),
          fmt::format("{}; only {} MiB of addresses are allowed here (ulimit -v), which may be why",
                      error.what(), *limit >> 20)};
}

void require_memory_for_decoding() {
  if (!little_memory()) return;
  // Frames, and threads with their stacks; and first the plugin with its libraries, whose loading may end the
  // process too.
  constexpr std::size_t kForDecoders = std::size_t{48} << 20, kForLibraries = std::size_t{256} << 20;
  const Owned<GstPlugin> libav(gst_registry_find_plugin(gst_registry_get(), "libav"));
  const bool loads = libav != nullptr && !gst_plugin_is_loaded(libav.get());
  require_addresses(kForDecoders + (loads ? kForLibraries : 0), "to decode video");
  const Owned<GstPlugin> loaded(loads ? gst_plugin_load(libav.get()) : nullptr);
}

void require_element(const char* name) {
  if (has_element(name)) return;
  const std::string_view package = package_of(name);
  throw blaming_memory(
      Error(ExitCode::Unavailable,
            package.empty()
                ? fmt::format("the GStreamer element '{}' is not installed", name)
                : fmt::format("the GStreamer element '{}' is not installed; it comes with the package {} "
                              "(apt-get install {})",
                              name, package, package)));
}

GstElement* make_element(GstBin* bin, const char* name) {
  require_element(name);
  GstElement* element = gst_element_factory_make(name, nullptr);
  if (!element)
    throw blaming_memory(
        Error(ExitCode::Unavailable,
              fmt::format("the GStreamer element '{}' is installed but cannot be loaded", name)));
  gst_bin_add(bin, element);  // takes the floating reference
  return element;
}

void link(std::initializer_list<GstElement*> chain) {
  for (auto it = chain.begin(); it + 1 < chain.end(); ++it)
    if (!gst_element_link(it[0], it[1]))
      throw InternalError(
          fmt::format("cannot link {} to {}", GST_ELEMENT_NAME(it[0]), GST_ELEMENT_NAME(it[1])));
}

}  // namespace contorno::gst
