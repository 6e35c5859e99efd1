// The element `contornosrc`: the synthetic sorting line as a live source. Its pad `maps`, which is there when
// it is asked for, has the true class maps of each frame, just before the frame itself; put a queue behind
// each of the two pads.
#include <gst/video/video.h>

#include "plugins/gst/element/line_element.h"
#include "plugins/gst/element/maps_caps.h"
#include "plugins/gst/element/plugin.h"

namespace contorno::gst {
namespace {

struct ContornoSrc {
  GstBin parent;
  GstElement *line, *maps;  // in the bin, which owns them
};
struct ContornoSrcClass {
  GstBinClass parent_class;
};

/// The element in the bin that has the pad of the maps and nothing else.
struct ContornoMaps {
  GstElement parent;
};
struct ContornoMapsClass {
  GstElementClass parent_class;
};

// NOLINTBEGIN(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE(ContornoMaps, contorno_maps, GST_TYPE_ELEMENT)
G_DEFINE_TYPE(ContornoSrc, contorno_src, GST_TYPE_BIN)
// NOLINTEND(cppcoreguidelines-pro-type-cstyle-cast)

ContornoSrc& source_of(gpointer object) {
  return *static_cast<ContornoSrc*>(object);
}

void contorno_maps_class_init(ContornoMapsClass* type_class) {
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  gst_element_class_set_static_metadata(element_class, "Synthetic sorting line, maps", "Source/Data",
                                        "Has the pad of the maps of contornosrc", "The contorno authors");
  add_pad_template(element_class, "src", GST_PAD_SRC, kMapsCaps);
}

void contorno_maps_init(ContornoMaps* object) {
  GstPadTemplate* pad_template = gst_element_get_pad_template(GST_ELEMENT(object), "src");
  GstPad* pad = gst_pad_new_from_template(pad_template, "src");
  gst_pad_use_fixed_caps(pad);
  gst_element_add_pad(GST_ELEMENT(object), pad);
}

void set_property(GObject* object, guint, const GValue* value, GParamSpec* spec) {
  g_object_set_property(G_OBJECT(source_of(object).line), spec->name, value);
}

void get_property(GObject* object, guint, GValue* value, GParamSpec* spec) {
  g_object_get_property(G_OBJECT(source_of(object).line), spec->name, value);
}

GstPad* request_pad(GstElement* element, GstPadTemplate* pad_template, const gchar*, const GstCaps*) {
  const ContornoSrc& source = source_of(element);
  GstPad* target = gst_element_get_static_pad(source.maps, "src");
  GstPad* pad = gst_ghost_pad_new_from_template("maps", target, pad_template);
  if (pad != nullptr) {
    gst_pad_set_active(pad, TRUE);
    if (gst_element_add_pad(element, pad) == 0) pad = nullptr;  // there is one already
  }
  if (pad != nullptr) set_maps_pad(source.line, target);
  gst_object_unref(target);
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) {
  set_maps_pad(source_of(element).line, nullptr);
  gst_pad_set_active(pad, FALSE);
  gst_element_remove_pad(element, pad);
}

/// Installs the properties of the line element, and num-buffers of a source.
void install_properties(GObjectClass* object_class) {
  const guint last = install_line_properties(object_class);
  g_object_class_install_property(
      object_class, last + 1,
      g_param_spec_int("num-buffers", "Number of frames",
                       "Frames after which the stream ends; -1: it does not", -1, G_MAXINT, -1,
                       static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS)));
}

void contorno_src_class_init(ContornoSrcClass* type_class) {
  GObjectClass* object_class = G_OBJECT_CLASS(type_class);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  install_properties(object_class);
  GstElementClass* element_class = GST_ELEMENT_CLASS(type_class);
  gst_element_class_set_static_metadata(element_class, "Synthetic sorting line", "Source/Video",
                                        "Paints a sorting line with fruit that turn under the camera, and "
                                        "gives the true class maps on the pad maps",
                                        "The contorno authors");
  add_pad_template(element_class, "src", GST_PAD_SRC, GST_VIDEO_CAPS_MAKE("RGBA"));
  add_pad_template(element_class, "maps", GST_PAD_SRC, kMapsCaps, GST_PAD_REQUEST);
  element_class->request_new_pad = request_pad;
  element_class->release_pad = release_pad;
}

void contorno_src_init(ContornoSrc* object) {
  object->line = static_cast<GstElement*>(g_object_new(line_get_type(), "name", "line", nullptr));
  object->maps = static_cast<GstElement*>(g_object_new(contorno_maps_get_type(), "name", "maps", nullptr));
  gst_bin_add_many(GST_BIN(object), object->line, object->maps, nullptr);
  GstPad* target = gst_element_get_static_pad(object->line, "src");
  gst_element_add_pad(GST_ELEMENT(object), gst_ghost_pad_new("src", target));
  gst_object_unref(target);
}

}  // namespace

GType source_get_type() {
  return contorno_src_get_type();
}

}  // namespace contorno::gst
