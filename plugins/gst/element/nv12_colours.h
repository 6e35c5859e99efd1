// The colours of NV12 as GStreamer's caps describe them, which are those of I420 as well.
#pragma once

#include <gst/video/video.h>

#include "plugins/gst/element/nv12.h"

namespace contorno::gst {

/// Throws Error(BadConfig) for frames whose colours have no conversion, and for those of two fields.
Nv12Colours nv12_colours(const GstVideoInfo& info);

}  // namespace contorno::gst
