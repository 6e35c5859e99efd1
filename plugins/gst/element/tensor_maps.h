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
/// The maps in the tensor `id` of a buffer; none where it has no such tensor. The caller owns their buffer,
/// which is the tensor's. That side of the tensor which is the number of `classes` counts the maps. Throws
/// Error(BadData) for a tensor that holds no maps of them.
std::optional<Maps> maps_in_tensor(GstBuffer* buffer, GQuark id, std::size_t classes);

}  // namespace contorno::gst
