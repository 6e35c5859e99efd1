// The samples of a page: its strips or tiles, whose bands lie together or apart.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "base/error.h"
#include "plugins/files/tiff/reader.h"

namespace contorno::tiff {
namespace {

/// The most memory that is taken for a page, and for one of its tiles, which may reach beyond the page.
constexpr std::uint64_t kMostBytes = std::uint64_t{2} << 30, kMostTileBytes = std::uint64_t{256} << 20;

/// How many bytes a byte of the file can become at most, by the rules of the method alone; 0 where they set
/// no limit.
std::uint64_t most_packed(std::uint16_t compression) {
  switch (compression) {
    case COMPRESSION_NONE:
      return 1;
    case COMPRESSION_PACKBITS:
      return 64;  // a run of 128 in two bytes
    case COMPRESSION_LZW:
      return 2731;  // a string of 4096 in twelve bits
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
      return 1032;  // a run of 258 in two bits
    default:
      return 0;
  }
}

bool is_deflate(std::uint16_t compression) {
  return compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ADOBE_DEFLATE;
}

/// Inflates a whole stream and drops the result, to see whether it is complete.
class Inflater {
 public:
  explicit Inflater(std::span<std::byte> packed) {
    ready_ = inflateInit(&stream_) == Z_OK;
    stream_.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream_.avail_in = static_cast<uInt>(packed.size());
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  /// Whether it reaches its end, where its checksum stands, and agrees.
  bool ends_well() {
    std::array<Bytef, 16384> dropped{};
    int result = ready_ ? Z_OK : Z_MEM_ERROR;
    while (result == Z_OK) {
      stream_.next_out = dropped.data();
      stream_.avail_out = static_cast<uInt>(dropped.size());
      result = inflate(&stream_, Z_NO_FLUSH);
    }
    return result == Z_STREAM_END;
  }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

}  // namespace

/// A header may tell of any size; the strips and tiles that it lists are what counts. Throws before memory is
/// taken for the page, which has at least so many bytes.
void TiffReader::check_blocks(std::uint64_t bytes) {
  if (bytes > kMostBytes)
    damaged(fmt::format("a page has {} MiB, allowed are {} MiB", bytes >> 20, kMostBytes >> 20));
  TIFF* file = file_.get();
  const bool tiled = TIFFIsTiled(file) != 0;
  const std::uint64_t tile_bytes = tiled ? TIFFTileSize64(file) : 0;
  if (tiled && (tile_bytes == 0 || tile_bytes > kMostTileBytes))
    damaged(fmt::format("a tile has {} bytes, allowed are 1 to {}", tile_bytes, kMostTileBytes));
  const std::uint64_t most = most_packed(short_tag(file, TIFFTAG_COMPRESSION));
  const std::uint32_t count = tiled ? TIFFNumberOfTiles(file) : TIFFNumberOfStrips(file);
  std::uint64_t stored = 0;
  for (std::uint32_t block = 0; block < count; ++block) {
    const std::uint64_t begin = TIFFGetStrileOffset(file, block), size = TIFFGetStrileByteCount(file, block);
    if (size == 0 || begin >= file_bytes_ || size > file_bytes_ - begin)
      damaged(
          fmt::format("the {} {} lies beyond its {} bytes", tiled ? "tile" : "strip", block, file_bytes_));
    stored += size;
  }
  if (count == 0 || (most > 0 && bytes / most > stored))
    damaged(fmt::format("{} bytes of samples are too few for what its header tells", stored));
}

std::vector<TiffReader::Block> TiffReader::blocks(const ImageFormat& page) const {
  TIFF* file = file_.get();
  const bool tiled = TIFFIsTiled(file) != 0;
  const auto width = static_cast<std::size_t>(page.width), height = static_cast<std::size_t>(page.height);
  const std::size_t across = tiled ? long_tag(file, TIFFTAG_TILEWIDTH) : width;
  const std::size_t rows = tiled ? long_tag(file, TIFFTAG_TILELENGTH) : long_tag(file, TIFFTAG_ROWSPERSTRIP);
  const std::size_t down = tiled ? rows : std::min(rows, height);
  const std::size_t pixel = static_cast<std::size_t>(channels_together()) * element_size(page.type);
  const auto row_bytes = static_cast<std::size_t>(tiled ? TIFFTileRowSize(file) : TIFFScanlineSize(file));
  if (across == 0 || down == 0 || row_bytes != across * pixel)
    damaged("its strips or tiles are not whole rows");
  if (tiled && static_cast<std::size_t>(TIFFTileSize(file)) != row_bytes * down)
    damaged("its tiles have no size");
  std::vector<Block> all;
  const int planes = page.channels / channels_together();
  for (int plane = 0; plane < planes; ++plane)
    for (std::size_t y = 0; y < height; y += down)
      for (std::size_t x = 0; x < width; x += across) {
        const std::size_t high = std::min(down, height - y);
        const auto sample = static_cast<std::uint16_t>(plane);
        const auto row = static_cast<std::uint32_t>(y);
        all.push_back({.number = tiled ? TIFFComputeTile(file, static_cast<std::uint32_t>(x), row, 0, sample)
                                       : TIFFComputeStrip(file, row, sample),
                       .plane = plane,
                       .x = x,
                       .y = y,
                       .width = std::min(across, width - x),
                       .height = high,
                       .row_bytes = row_bytes,
                       .bytes = row_bytes * (tiled ? down : high),
                       .is_short = !tiled && high < rows});
      }
  return all;
}

/// libtiff stops a stream that holds more than the strip needs before its end, where its checksum stands.
void TiffReader::check_whole_stream(const Block& block) {
  if (!block.is_short || !is_deflate(short_tag(file_.get(), TIFFTAG_COMPRESSION))) return;
  std::vector<std::byte> packed(TIFFGetStrileByteCount(file_.get(), block.number));
  const auto size = static_cast<tmsize_t>(packed.size());
  if (TIFFReadRawStrip(file_.get(), block.number, packed.data(), size) != size)
    damaged("samples are missing");
  if (!Inflater(packed).ends_well())
    damaged(fmt::format("the checksum of strip {} does not agree with what is in it", block.number));
}

void TiffReader::read_block(const Block& block, std::span<std::byte> to) {
  const auto bytes = static_cast<tmsize_t>(block.bytes);
  const tmsize_t got = TIFFIsTiled(file_.get()) != 0
                           ? TIFFReadEncodedTile(file_.get(), block.number, to.data(), bytes)
                           : TIFFReadEncodedStrip(file_.get(), block.number, to.data(), bytes);
  if (got != bytes) damaged("samples are missing");
  check_whole_stream(block);
}

void TiffReader::read_samples(std::span<std::byte> samples) {
  const ImageFormat page = format();
  if (samples.size() != page.row_bytes() * static_cast<std::size_t>(page.height))
    throw InternalError("a page is read into memory of another size");
  if (planes_ > 1) return read_plane(samples);
  complaint_.warnings_count = true;
  const std::size_t size = element_size(page.type);
  const std::size_t together = static_cast<std::size_t>(channels_together()) * size;
  const std::size_t pixel = static_cast<std::size_t>(page.channels) * size;
  for (const Block& block : blocks(page)) {
    std::byte* const corner = samples.data() + block.y * page.row_bytes() + block.x * pixel +
                              static_cast<std::size_t>(block.plane) * size;
    // A strip of whole pixels lies as it is wanted.
    if (together == pixel && block.row_bytes == page.row_bytes() &&
        block.bytes == block.row_bytes * block.height) {
      read_block(block, {corner, block.bytes});
      continue;
    }
    block_.resize(block.bytes);
    read_block(block, block_);
    for (std::size_t y = 0; y < block.height; ++y) {
      const std::byte* from = block_.data() + y * block.row_bytes;
      std::byte* to = corner + y * page.row_bytes();
      if (together == pixel)
        std::memcpy(to, from, block.width * pixel);
      else
        for (std::size_t x = 0; x < block.width; ++x) std::memcpy(to + x * pixel, from + x * size, size);
    }
  }
  complaint_.warnings_count = false;
  if (!complaint_.sentence.empty()) damaged("");
}

}  // namespace contorno::tiff
