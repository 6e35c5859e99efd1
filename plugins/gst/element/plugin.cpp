// The GStreamer plugin `contorno`: the list of its elements. Registering them opens no device.
#include <gst/gst.h>

#include "plugins/gst/element/log.h"
#include "plugins/gst/element/meta.h"
#include "plugins/gst/element/plugin.h"

#define PACKAGE "contorno"

GST_DEBUG_CATEGORY(contorno_debug);

namespace {

gboolean init_plugin(GstPlugin* plugin) {
  GST_DEBUG_CATEGORY_INIT(contorno_debug, "contorno", 0, "contours of classes in video frames");
  contorno::gst::contorno_meta_info();
  const auto add = [&](const char* name, GType type) {
    return gst_element_register(plugin, name, GST_RANK_NONE, type) != 0;
  };
  return static_cast<gboolean>(add("contorno", contorno::gst::filter_get_type()) &&
                               add("contornometa2json", contorno::gst::json_get_type()) &&
                               add("contornosrc", contorno::gst::source_get_type()));
}

}  // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, contorno, "Contours of classes in video frames",
                  init_plugin, CONTORNO_VERSION, "MIT/X11", "contorno", "contorno")
