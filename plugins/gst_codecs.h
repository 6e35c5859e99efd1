// The video codecs and containers that can be written, and how an encoder is set up.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/gst_pipeline.h"

namespace contorno::gst {

enum class Codec : std::uint8_t { Auto, Vp8, Mjpeg, Png, Theora, H264 };

struct CodecSpec {
  Codec codec;
  const char* name;              ///< as users write it
  const char* encoder;           ///< GStreamer's element
  const char* parser = nullptr;  ///< element between encoder and muxer, where the muxer needs one
  int granule = 1;               ///< sides are multiples of it
  int smallest_side = 16;        ///< less is refused by some encoder, muxer or reader
};
/// All but Auto, in the order in which they are offered.
std::span<const CodecSpec> codecs();
const CodecSpec& spec_of(Codec codec);

/// How a container says when a picture is shown.
enum class Timing : std::uint8_t {
  Kept,          ///< every picture has its own time
  ConstantRate,  ///< picture k is shown at k / rate
};

/// What a file name extension stands for; the first codec that is installed is what `auto` takes.
struct Container {
  std::string_view extension;
  const char* muxer;
  std::vector<Codec> codecs;
  Timing timing;
};

/// By the extension of `path`. Throws Error(BadConfig) that lists the allowed ones.
const Container& container_of(const std::string& path);
/// `wanted`, or for Auto the container's first codec that is installed. Throws Error(BadConfig) when the
/// container does not take it.
Codec codec_for(const Container& container, Codec wanted);

/// Throws Error(Unavailable) that names the element and the package that are missing.
void require_codec(const Container& container, Codec codec);

/// Makes what is on the disk readable while it grows, for muxers that can.
void set_up_muxer(GstElement* muxer);

/// Quality is 1 (worst) to 100; `bits_full` is the number of pixels a second.
void set_up_encoder(GstElement* encoder, Codec codec, int quality, double bits_full);

}  // namespace contorno::gst
