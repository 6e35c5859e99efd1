// Raw pictures that lie otherwise than GStreamer takes them to. It begins each row of most formats at a
// multiple of 4 bytes, and some containers (AVI and Matroska of FFmpeg) have no gaps, or wider ones (r210):
// the size of the buffers tells. What QuickTime calls v308 has its samples in another order than GStreamer's
// format of that name.
#pragma once

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Buffers that come to the sink pad `pad` without a word on their rows, and that are as large as pictures of
/// their caps without gaps, or with rows at multiples of a power of two, get a GstVideoMeta that says so.
void describe_rows(GstPad* pad);
/// Lets every demuxer of QuickTime that is added to `pipeline` from now on give v308 in GStreamer's order.
void turn_quicktime_samples(GstElement* pipeline);

}  // namespace contorno::gst
