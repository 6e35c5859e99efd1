// Class maps as GStreamer's caps describe them: `application/x-contorno-maps`, a buffer for the maps of one
// frame, without bytes between rows or planes.
//
//   application/x-contorno-maps, width = 511, height = 95, classes = 8, type = float32, layout = chw,
//   framerate = 60/1
#pragma once

#include <gst/gst.h>

#include "pipeline/graph/source.h"

namespace contorno::gst {

inline constexpr const char* kMapsCaps =
    "application/x-contorno-maps, width = (int) [ 1, 65536 ], height = (int) [ 1, 65536 ], "
    "classes = (int) [ 1, 65536 ], type = (string) { float32, float16, uint8, uint16 }, layout = (string) { "
    "hwc, chw }";

inline constexpr const char* kTensorCaps =
    "other/tensors, format = (string) static, num_tensors = (int) 1, types = (string) { float32, float16, "
    "uint8 }";

/// The format that caps of either kind describe. Throws Error(BadData) when they do not.
ImageFormat maps_format(const GstCaps* caps);
/// New caps for these maps at the rate of `stream`.
GstCaps* maps_caps(const ImageFormat& maps, const StreamFormat& stream);
/// Bytes of a buffer of them, and their place in it.
std::size_t maps_bytes(const ImageFormat& maps);
ImageView maps_view(void* data, const ImageFormat& maps);

}  // namespace contorno::gst
