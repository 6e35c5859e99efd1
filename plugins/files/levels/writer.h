// The sink that writes mipmap levels: all of them in one TIFF file, or a TIFF or PNG file a level. Rows are
// cut into strips that are compressed on their own, by as many threads as there are: level 1 alone is three
// quarters of what a chain adds, so a thread a level would wait for one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/graph/sink.h"
#include "pipeline/value/image.h"

namespace contorno {

const SinkType& mipmaps_sink();

/// Deflate level: 0 stores, 9 is smallest and slowest.
struct LevelEncoding {
  int compression = 3;
  int threads = 1;
};

/// A TIFF file with a page a level, largest first; pages after the first are marked as reduced copies. uint8,
/// uint16 and float32, interleaved or planar. Throws Error(Io) with the library's words.
std::string encode_tiff(std::span<const ImageView> levels, const LevelEncoding& encoding);

/// A PNG file. uint8 or uint16 of 1 to 4 interleaved channels. Throws Error(BadConfig, Io).
std::string encode_png(const ImageView& image, const LevelEncoding& encoding);

/// One part of a deflate stream.
struct DeflatedPart {
  std::string bytes;
  std::uint32_t adler = 1;  ///< of what was compressed
  std::size_t length = 0;
};
enum class StreamKind : std::uint8_t {
  Whole,   ///< a zlib stream
  Middle,  ///< raw deflate that ends at a byte, to be continued
  Last,    ///< raw deflate that ends the stream
};
DeflatedPart deflate_part(std::span<const std::uint8_t> bytes, int compression, StreamKind kind);

}  // namespace contorno
