// The source pad of the element `contorno`: a thread of its own pushes the frames whose work is done.
#include "plugins/gst/element/filter_object.h"

namespace contorno::gst {
namespace {

void push_frames(gpointer data) {
  auto* const pad = static_cast<GstPad*>(data);
  GstObject* const parent = gst_pad_get_parent(pad);
  const bool goes_on = parent != nullptr && filter_of(parent).push_first(
                                                [&](GstBuffer* buffer) { return gst_pad_push(pad, buffer); });
  if (!goes_on) gst_pad_pause_task(pad);
  if (parent != nullptr) gst_object_unref(parent);
}

/// Frames are pushed, never pulled.
gboolean activate(GstPad* pad, GstObject* parent, GstPadMode mode, gboolean active) {
  if (mode != GST_PAD_MODE_PUSH) return FALSE;
  Filter& filter = filter_of(parent);
  const auto base = static_cast<Contorno*>(static_cast<gpointer>(parent))->activate_source;
  if (active == 0) {
    filter.queue().set_flushing(true);
    return static_cast<gboolean>(gst_pad_stop_task(pad) != 0 && base(pad, parent, mode, active) != 0);
  }
  if (base(pad, parent, mode, active) == 0) return FALSE;
  filter.queue().set_flushing(false);
  start_pushing(pad);
  return TRUE;
}

}  // namespace

void start_pushing(GstPad* pad) {
  gst_pad_start_task(pad, push_frames, pad, nullptr);
}

void install_source_pad(Contorno* object) {
  GstPad* const pad = GST_BASE_TRANSFORM_SRC_PAD(object);
  object->activate_source = GST_PAD_ACTIVATEMODEFUNC(pad);
  gst_pad_set_activatemode_function(pad, activate);
}

}  // namespace contorno::gst
