// The pad `maps` of the element `contorno`, which is there when it is asked for.
#include <string>

#include "plugins/gst/element/filter_object.h"
#include "plugins/gst/element/guard.h"
#include "plugins/gst/element/log.h"
#include "plugins/gst/element/maps_caps.h"
#include "plugins/gst/element/plugin.h"

namespace contorno::gst {
namespace {

GstFlowReturn chain_maps(GstPad*, GstObject* parent, GstBuffer* buffer) {
  const std::shared_ptr<MapsInput> maps = filter_of(parent).maps();
  GST_LOG_OBJECT(parent, "maps came, time %" GST_TIME_FORMAT, GST_TIME_ARGS(GST_BUFFER_PTS(buffer)));
  if (maps) return maps->put(buffer);
  gst_buffer_unref(buffer);
  return GST_FLOW_FLUSHING;
}

/// Events of the maps end here: those of the frames go on.
gboolean maps_event(GstPad*, GstObject* parent, GstEvent* event) {
  const gboolean understood = guarded(GST_ELEMENT(parent), gboolean{FALSE}, [&] {
    const std::shared_ptr<MapsInput> maps = filter_of(parent).maps();
    if (!maps) return gboolean{FALSE};
    switch (GST_EVENT_TYPE(event)) {
      case GST_EVENT_CAPS: {
        GstCaps* caps = nullptr;
        gst_event_parse_caps(event, &caps);
        maps->set_caps(caps);
        break;
      }
      case GST_EVENT_STREAM_START:
        maps->begin();
        break;
      case GST_EVENT_EOS:
        maps->end();
        break;
      case GST_EVENT_FLUSH_START:
        maps->set_flushing(true);
        break;
      case GST_EVENT_FLUSH_STOP:
        maps->set_flushing(false);
        break;
      default:
        break;
    }
    return gboolean{TRUE};
  });
  gst_event_unref(event);
  return understood;
}

GstPad* request_pad(GstElement* element, GstPadTemplate* pad_template, const gchar*, const GstCaps*) {
  if (filter_of(element).maps()) return nullptr;
  filter_of(element).add_maps();
  GstPad* pad = gst_pad_new_from_template(pad_template, "maps");
  gst_pad_set_chain_function(pad, chain_maps);
  gst_pad_set_event_function(pad, maps_event);
  gst_pad_set_active(pad, TRUE);
  gst_element_add_pad(element, pad);
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) {
  gst_pad_set_active(pad, FALSE);
  filter_of(element).remove_maps();
  gst_element_remove_pad(element, pad);
}

}  // namespace

void install_maps_pad(GstElementClass* element_class) {
  add_pad_template(element_class, "maps", GST_PAD_SINK, (std::string(kMapsCaps) + "; " + kTensorCaps).c_str(),
                   GST_PAD_REQUEST);
  element_class->request_new_pad = request_pad;
  element_class->release_pad = release_pad;
}

}  // namespace contorno::gst
