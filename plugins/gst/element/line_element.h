// The element that paints inside `contornosrc`.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

/// Has the properties of `contornosrc`, and a pad `src`.
GType line_get_type();
/// Installs these properties, from number 1 on, and is-live behind them; returns the last number.
guint install_line_properties(GObjectClass* object_class);
/// The pad that maps are pushed on from the next frame on; borrowed, null for none.
void set_maps_pad(GstElement* line, GstPad* pad);

}  // namespace contorno::gst
