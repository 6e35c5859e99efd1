// Keeps GStreamer's libav decoders from ending the process. GStreamer has no equivalent of some formats that
// libav decodes to (grey of 10 and 12 bits, RGB of 16, 4:4:0 of 10). With direct rendering, which is the
// default, such a decoder allocates output buffers before it negotiates caps, and libgstvideo (1.22) reads
// through a null pointer. Without direct rendering the stream only fails. It also passes over GStreamer's own
// decoders that make wrong samples without a word. The two functions that return a name are called after a
// pipeline has failed, all others before it starts.
#pragma once

#include <string>

#include "plugins/gst/elements.h"

namespace contorno::gst {

/// Turns direct rendering off in every libav decoder that is added to `pipeline` from now on, unless its
/// input caps show that GStreamer has its output format.
void guard_decoders(GstElement* pipeline);
/// libav's name ("ffv1") of the decoder of `pipeline` that refused a picture because its output format has no
/// equivalent in GStreamer; empty when there is none.
std::string nameless_decoder(GstElement* pipeline);
/// libav's name of the decoder of `pipeline` that has output no picture so far, because of its format or
/// because it could decode none; empty when there is none.
std::string decoder_without_output(GstElement* pipeline);
/// Every decodebin that is added to `pipeline` from now on takes the decoder of libav where GStreamer's own
/// is known to make wrong samples.
void prefer_libav_decoders(GstElement* pipeline);
/// Needs `prefer_libav_decoders`. A decodebin does not use the decoder `name` of libav, which an earlier
/// pipeline of the same file found; it exposes the stream still encoded, and the module `deep` decodes it
/// (plugins/gst/deep_element.h).
void leave_out_decoder(GstElement* pipeline, const std::string& name);
/// Gives the decoder of video with a palette the one in the track's description: 256 words 0xAARRGGBB in the
/// machine's byte order. The demuxer of QuickTime gives its own default palette in its place.
void give_palette(GstElement* pipeline, const std::string& palette);

}  // namespace contorno::gst
