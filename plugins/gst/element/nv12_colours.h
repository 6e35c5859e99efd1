// The factors by which GStreamer's videoconvert makes RGB of NV12 and I420 and back, for the matrix, the
// range and the chroma siting that caps name (gst-plugins-base, video-converter.c).
#pragma once

#include <gst/video/video.h>

#include "plugins/gst/element/nv12.h"

namespace contorno::gst {

/// Throws Error(BadConfig) for a matrix that is not one of YCbCr, and for interlaced frames.
Nv12Colours nv12_colours(const GstVideoInfo& info);

}  // namespace contorno::gst
