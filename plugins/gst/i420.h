// Pictures between RGBA and I420 (a luma sample a pixel, and one sample of either chroma for two by two
// pixels), in one pass from or into the memory where they are needed, to the bit as GStreamer's videoconvert
// does it in several passes between buffers of its own.
#pragma once

#include <gst/video/video.h>

#include "pipeline/value/image.h"

namespace contorno::gst {

/// Writes `picture`, u8 RGBA whose alpha is not looked at, into `frame`, which is I420, progressive and as
/// large. Chroma is the mean of two rows, then that of two columns or, where the frame's samples lie in the
/// first of these, of three with weights of 1, 2 and 1, halves rounded up.
void write_i420(const ImageView& picture, GstVideoFrame& frame);

/// Writes `frame`, which is I420 and progressive, into `picture`, u8 RGBA as large, with an alpha of 255.
/// Each pixel has the chroma of its sample.
void read_i420(const GstVideoFrame& frame, const ImageView& picture);

}  // namespace contorno::gst
