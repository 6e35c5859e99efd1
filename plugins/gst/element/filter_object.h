// The instance of the element `contorno`, and the parts of its class that have files of their own.
#pragma once

#include <gst/base/gstbasetransform.h>

#include "plugins/gst/element/filter.h"

namespace contorno::gst {

struct Contorno {
  GstBaseTransform parent;
  Filter* filter;
  GstPadActivateModeFunction activate_source;  // the base class's
};
inline Filter& filter_of(gpointer object) {
  return *static_cast<Contorno*>(object)->filter;
}

void install_filter_properties(GObjectClass* object_class);  // filter_properties.cpp
void install_maps_pad(GstElementClass* element_class);       // maps_pad.cpp
void install_source_pad(Contorno* object);                   // source_pad.cpp
/// Starts the thread that pushes frames.
void start_pushing(GstPad* pad);

}  // namespace contorno::gst
