// Rows of raw pictures that lie without gaps. GStreamer begins each row of most formats at a multiple of 4
// bytes, and some containers (AVI and Matroska of FFmpeg) do not: what their buffers lack against GStreamer's
// count tells them.
#pragma once

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Buffers that come to the sink pad `pad` without a word on their rows, and that are as large as pictures of
/// their caps without gaps, get a GstVideoMeta that says so.
void describe_dense_rows(GstPad* pad);

}  // namespace contorno::gst
