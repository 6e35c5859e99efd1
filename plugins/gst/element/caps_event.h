// Other caps in the place of those that a probe sees.
#pragma once

#include <gst/gst.h>

namespace contorno::gst {

/// The event of `probe`, which has caps, is exchanged for one with `caps`, which stay the caller's. Its
/// number in the sequence of events is kept.
inline void replace_caps(GstPadProbeInfo* probe, GstCaps* caps) {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(probe);
  GstEvent* replaced = gst_event_new_caps(caps);
  gst_event_set_seqnum(replaced, gst_event_get_seqnum(event));
  gst_event_unref(event);
  GST_PAD_PROBE_INFO_DATA(probe) = replaced;
}

}  // namespace contorno::gst
