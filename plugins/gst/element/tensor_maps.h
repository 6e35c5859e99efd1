// Class maps that come with the frame itself: as a tensor of a GstTensorMeta on the buffer, by which elements
// of GStreamer 1.26 and newer hand on what a network has computed.
#pragma once

#include <gst/gst.h>

#include <cstddef>
#include <optional>

#include "plugins/gst/element/maps_input.h"

namespace contorno::gst {

/// Whether the plugin was built with a GStreamer that has tensors on buffers.
bool can_read_tensors();
/// The maps in the tensor `id` of a buffer; none where it has no such tensor, or where tensors cannot be
/// read. The result refers to the tensor's own buffer, which the caller unrefs. A tensor of float32, float16,
/// uint8 or uint16 has three dimensions, of which leading ones of 1 do not count: classes x height x width
/// or, where the first is not the number of `classes`, height x width x classes. Throws Error(BadData) for
/// any other.
std::optional<Maps> maps_in_tensor(GstBuffer* buffer, GQuark id, std::size_t classes);

}  // namespace contorno::gst
