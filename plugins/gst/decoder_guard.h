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
/// A sentence on the decoder of `pipeline` that got pictures and could not say the format of what it makes of
/// them; empty when there is none.
std::string nameless_samples(GstElement* pipeline);

}  // namespace contorno::gst
