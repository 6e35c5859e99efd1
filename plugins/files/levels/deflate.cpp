#include <zlib.h>

#include "base/error.h"
#include "plugins/files/levels/writer.h"

namespace contorno {

DeflatedPart deflate_part(std::span<const std::uint8_t> bytes, int compression, StreamKind kind) {
  DeflatedPart part{.length = bytes.size()};
  part.adler = static_cast<std::uint32_t>(adler32_z(adler32(0, nullptr, 0), bytes.data(), bytes.size()));
  z_stream stream{};
  constexpr int kWindow = 15, kMemory = 8;
  if (deflateInit2(&stream, compression, Z_DEFLATED, kind == StreamKind::Whole ? kWindow : -kWindow, kMemory,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    throw Error(ExitCode::OutOfMemory, "no memory to compress an image");
  part.bytes.resize(deflateBound(&stream, static_cast<uLong>(bytes.size())) + 16);
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(part.bytes.data());
  stream.avail_out = static_cast<uInt>(part.bytes.size());
  const int status = deflate(&stream, kind == StreamKind::Middle ? Z_FULL_FLUSH : Z_FINISH);
  part.bytes.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != (kind == StreamKind::Middle ? Z_OK : Z_STREAM_END))
    throw InternalError("deflate did not end");
  return part;
}

}  // namespace contorno
