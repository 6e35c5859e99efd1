// The range that a picture of Motion JPEG names in a comment of FFmpeg's, "CS=ITU601": 16 to 235. JFIF knows
// 0 to 255 alone, and GStreamer's decoder reads no comments.
#pragma once

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Lets every jpegdec that is added to `pipeline` from now on name the range that its first picture names.
/// Called before the pipeline starts.
void read_jpeg_ranges(GstElement* pipeline);

}  // namespace contorno::gst
