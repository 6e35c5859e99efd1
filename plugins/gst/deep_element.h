// The element contornodeepdecoder, which decodes by the module deep. It is known to this process alone, and
// put into a pipeline by its name: no decodebin chooses it.
#pragma once

namespace contorno::gst {

inline constexpr const char* kDeepDecoder = "contornodeepdecoder";

/// Makes the element known, once. It has the property `codec`, libav's name.
void register_deep_decoder();

}  // namespace contorno::gst
