// The sink that writes mipmap levels: all of them in one TIFF file, or a TIFF or PNG file a level. Each level
// is cut into strips of rows that threads compress on their own. One thread a level would not help: all would
// wait for that of the largest level, which has most of the samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "pipeline/value/image.h"

namespace contorno {

const SinkType& mipmaps_sink();

struct LevelEncoding {
  int compression = 3;  ///< of deflate: 0 stores, 9 is smallest and slowest
  int threads = 1;
};

/// The bytes of a TIFF file with a page a level, largest first; pages after the first are marked as reduced
/// copies. Takes uint8, uint16 and float32, interleaved or planar. Throws Error(Io) with the library's words.
std::string encode_tiff(std::span<const ImageView> levels, const LevelEncoding& encoding);

/// The bytes of a PNG file. Takes uint8 or uint16 of 1 to 4 interleaved channels; throws Error(BadConfig) for
/// others, Error(Io).
std::string encode_png(const ImageView& image, const LevelEncoding& encoding);

/// One part of a deflate stream.
struct DeflatedPart {
  std::string bytes;
  std::uint32_t adler = 1;  ///< Adler-32 of the bytes that were compressed
  std::size_t length = 0;   ///< how many these were
};
enum class StreamKind : std::uint8_t {
  Whole,   ///< a zlib stream
  Middle,  ///< raw deflate that ends at a byte, to be continued
  Last,    ///< raw deflate that ends the stream
};
DeflatedPart deflate_part(std::span<const std::uint8_t> bytes, int compression, StreamKind kind);

}  // namespace contorno
