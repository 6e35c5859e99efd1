// Converts pictures between RGBA and I420 (a luma sample a pixel, and one sample of either chroma for two by
// two pixels) on the CPU, in one pass and without buffers in between. The results are those of GStreamer's
// videoconvert bit for bit, as the decoders' and encoders' pipelines had it: chroma is repeated on the way to
// RGBA, not interpolated as the element's converter does (nv12.h).
#pragma once

#include <gst/video/video.h>

#include "pipeline/value/image.h"

namespace contorno::gst {

/// Writes `picture`, u8 RGBA whose alpha is not looked at, into `frame`: mapped for writing, I420,
/// progressive, of the same size, with any stride. Chroma is the mean of two rows, and then that of two
/// columns, or of three columns with the weights 1, 2 and 1 where chroma is cosited with the left column;
/// halves are rounded up.
void write_i420(const ImageView& picture, GstVideoFrame& frame);

/// Writes `frame` (mapped, I420, progressive) into `picture`, u8 RGBA of the same size, with an alpha of 255.
void read_i420(const GstVideoFrame& frame, const ImageView& picture);

}  // namespace contorno::gst
