// Keeps GStreamer's libav decoders from ending the process. GStreamer has no name for some formats of samples
// that they make (grey of 10 and 12 bits, RGB of 16, 4:4:0 of 10): where such a decoder asks for memory for
// its pictures before it says the format, as it does by itself, the library of video reads through a null
// pointer. Where it copies its pictures instead, the stream only fails.
#pragma once

#include <string>

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Watches every decoder that `pipeline` makes from now on, and lets those copy whose caps do not say that
/// their samples have a name.
void guard_decoders(GstElement* pipeline);
/// libav's name ("ffv1") of the decoder of `pipeline` that refused a picture, because it cannot say the
/// format of what it makes of it; empty when there is none.
std::string nameless_decoder(GstElement* pipeline);
/// libav's name of the decoder of `pipeline` that has given nothing yet, for this reason or because it could
/// decode no picture; empty when there is none.
std::string decoder_without_output(GstElement* pipeline);
/// Lets every decodebin that `pipeline` gets from now on hand on, as they are, the pictures that this decoder
/// of libav would take.
void leave_out_decoder(GstElement* pipeline, const std::string& name);

}  // namespace contorno::gst
