// What streams say themselves of their colours, and GStreamer leaves out.
//   Motion JPEG: a range in a comment of FFmpeg's, "CS=ITU601": 16 to 235. JFIF knows 0 to 255 alone, and
//   GStreamer's decoder reads no comments.
//   AV1: the matrix and the range, which a container's tag without a matrix takes the place of.
#pragma once

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Lets every jpegdec and av1parse that is added to `pipeline` from now on tell them. Called before the
/// pipeline starts.
void read_stream_colours(GstElement* pipeline);

}  // namespace contorno::gst
