// The video codecs and containers that can be written, and how an encoder is set up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/gst/pipeline.h"
#include "plugins/media/params.h"

namespace contorno::gst {

struct CodecSpec {
  Codec codec;
  const char* media_type;        ///< of the encoded stream, as in caps
  const char* encoder;           ///< GStreamer's element, unless another encoder is asked for
  const char* parser = nullptr;  ///< element between encoder and muxer, where the muxer needs one
  int granule = 1;               ///< sides are multiples of it
  int smallest_side = 16;        ///< less is refused by some encoder, muxer or reader
};
/// The properties and the name of a codec, which is not Auto.
const CodecSpec& spec_of(Codec codec);
const char* name_of(Codec codec);

/// How a container says when a picture is shown.
enum class Timing : std::uint8_t {
  Kept,          ///< every picture has its own time
  ConstantRate,  ///< picture k is shown at k / rate
};

/// In which order a muxer writes.
enum class Writing : std::uint8_t {
  Forward,  ///< from the beginning to the end where it must, as into a pipe
  GoesBack  ///< at the end it writes the beginning again, which only works in a file
};

/// What a file name extension stands for; of `codecs`, `auto` takes the first that is installed.
struct Container {
  std::string_view extension;
  const char* muxer;
  std::vector<Codec> codecs;
  Timing timing;
  Writing writing = Writing::Forward;
};

/// The container that the extension of `path` stands for. Throws Error(BadConfig) that lists the allowed
/// ones.
const Container& container_of(const std::string& path);
/// How pictures are compressed, and GStreamer's element that does it.
struct Encoding {
  Codec codec;
  const char* element;
};
/// The codec and encoder that were asked for; for Auto the encoder's codec, or the container's first that is
/// installed.
/// Throws Error(BadConfig) when the container does not take the codec, or the encoder writes another one.
Encoding encoding_for(const Container& container, Codec codec, Encoder encoder);

/// Throws Error(Unavailable) that names the element and the package that are missing.
void require_encoding(const Container& container, const Encoding& encoding);

/// What a muxer writes into.
enum class Target : std::uint8_t { File, Pipe };

/// Throws Error(CannotCreate) when `path` is a pipe and the container cannot be written into one.
void require_target(const Container& container, const std::filesystem::path& path);

/// Lets muxers that can do so write in fragments, so that the file can be read while it grows and after the
/// program was killed; into a pipe nothing is written twice.
void set_up_muxer(GstElement* muxer, Target target);

/// `quality` is 1 (worst) to 100. `bits_full` is the number of pixels a second, from which encoders with a
/// highest bit rate get one.
void set_up_encoder(GstElement* encoder, const Encoding& encoding, int quality, double bits_full);

}  // namespace contorno::gst
