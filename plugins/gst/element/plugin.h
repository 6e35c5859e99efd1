// The types of the plugin's elements, and what they share when they describe their pads.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

GType filter_get_type();  ///< `contorno`
GType json_get_type();    ///< `contornometa2json`
GType source_get_type();  ///< `contornosrc`

/// Adds a pad that is always there.
inline void add_pad_template(GstElementClass* element_class, const char* name, GstPadDirection direction,
                             const char* caps_text, GstPadPresence presence = GST_PAD_ALWAYS) {
  GstCaps* caps = gst_caps_from_string(caps_text);
  gst_element_class_add_pad_template(element_class, gst_pad_template_new(name, direction, presence, caps));
  gst_caps_unref(caps);
}

}  // namespace contorno::gst
