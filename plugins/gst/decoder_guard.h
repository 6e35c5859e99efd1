// Keeps GStreamer's libav decoders from ending the process. GStreamer has no equivalent of some formats that
// libav decodes to (grey of 10 and 12 bits, RGB of 16, 4:4:0 of 10). With direct rendering, which is the
// default, such a decoder allocates output buffers before it negotiates caps, and libgstvideo (1.22) reads
// through a null pointer. Without direct rendering the stream only fails. All functions are called before the
// pipeline starts, but those that return a name. And from what GStreamer's own decoders make wrong samples
// of.
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
/// Lets every decodebin that is added to `pipeline` from now on take a decoder of libav in place of another
/// one of GStreamer's that makes wrong samples of the stream without a word.
void pass_over_decoders(GstElement* pipeline);
/// With `pass_over_decoders`: a decodebin exposes the stream that this decoder of libav would take, still
/// encoded: the module `deep` then decodes it (plugins/gst/deep_element.h).
void leave_out_decoder(GstElement* pipeline, const std::string& name);
/// The palette of a file, for decoders of samples that are places in one: 256 words of ARGB. The demuxer of
/// QuickTime takes a palette in the description of a track for its own default one.
void give_palette(GstElement* pipeline, const std::string& palette);

}  // namespace contorno::gst
