#include <png.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "plugins/files/levels/writer.h"

namespace contorno {
namespace {

constexpr std::size_t kPartBytes = std::size_t{512} << 10;
constexpr std::uint8_t kFilterUp = 2;

/// Rows as PNG stores them before compression: the filter's number, then each byte minus the one above; words
/// with the high byte first.
std::vector<std::uint8_t> filtered_rows(const ImageView& image, int begin, int end) {
  const std::size_t bytes = image.format.row_bytes();
  const bool words = image.format.type == ElementType::U16;
  // The byte of a row that byte i of the file stores: words are swapped.
  const auto at = [&](const std::uint8_t* row, std::size_t i) { return row[words ? i ^ 1U : i]; };
  std::vector<std::uint8_t> rows;
  rows.reserve((bytes + 1) * static_cast<std::size_t>(end - begin));
  for (int y = begin; y < end; ++y) {
    const auto* row = image.row<const std::uint8_t>(y);
    const auto* above = y > 0 ? image.row<const std::uint8_t>(y - 1) : nullptr;
    rows.push_back(kFilterUp);
    for (std::size_t i = 0; i < bytes; ++i)
      rows.push_back(static_cast<std::uint8_t>(at(row, i) - (above == nullptr ? 0 : at(above, i))));
  }
  return rows;
}

void append_to(png_structp png, png_bytep data, std::size_t size) {
  static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(data), size);
}
[[noreturn]] void fail(png_structp png, png_const_charp) {
  png_longjmp(png, 1);
}
void ignore(png_structp, png_const_charp) {}

void put(std::uint8_t* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

struct Chunk {
  const char* name;
  const std::uint8_t* data;
  std::size_t size;
};

/// The library writes signature, lengths and checksums.
bool write_chunks(const Chunk* chunks, std::size_t count, std::string& file) {
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, fail, ignore);
  if (png == nullptr) return false;
  if (setjmp(png_jmpbuf(png)) != 0) {  // NOLINT(cert-err52-cpp): the library knows no other way
    png_destroy_write_struct(&png, nullptr);
    return false;
  }
  png_set_write_fn(png, &file, append_to, nullptr);
  png_write_sig(png);
  for (std::size_t i = 0; i < count; ++i)
    png_write_chunk(png, reinterpret_cast<png_const_bytep>(chunks[i].name), chunks[i].data, chunks[i].size);
  png_destroy_write_struct(&png, nullptr);
  return true;
}

/// The pixels as one zlib stream whose parts were compressed on their own.
std::string zlib_stream(const ImageView& image, const LevelEncoding& encoding) {
  const int rows = std::max(1, static_cast<int>(kPartBytes / (image.format.row_bytes() + 1)));
  const int count = (image.format.height + rows - 1) / rows;
  std::vector<DeflatedPart> parts(static_cast<std::size_t>(count));
  for_tasks(encoding.threads, count, [&](int part) {
    const int begin = part * rows, end = std::min(image.format.height, begin + rows);
    parts[static_cast<std::size_t>(part)] =
        deflate_part(filtered_rows(image, begin, end), encoding.compression,
                     part + 1 == count ? StreamKind::Last : StreamKind::Middle);
  });
  std::string stream("\x78\x01", 2);
  uLong adler = adler32(0, nullptr, 0);
  for (const DeflatedPart& part : parts) {
    stream += part.bytes;
    adler = adler32_combine(adler, part.adler, static_cast<z_off_t>(part.length));
  }
  std::uint8_t sum[4];
  put(sum, static_cast<std::uint32_t>(adler));
  return stream.append(reinterpret_cast<const char*>(sum), 4);
}

}  // namespace

std::string encode_png(const ImageView& image, const LevelEncoding& encoding) {
  const ImageFormat& format = image.format;
  if (format.layout != Layout::Interleaved || format.channels > 4 ||
      (format.type != ElementType::U8 && format.type != ElementType::U16))
    throw Error(ExitCode::BadConfig,
                "the image is " + describe(format) +
                    ", PNG takes uint8 or uint16 of 1 to 4 interleaved channels; .tif takes all");
  constexpr int kColours[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGBA};
  std::uint8_t header[13] = {};
  put(header, static_cast<std::uint32_t>(format.width));
  put(header + 4, static_cast<std::uint32_t>(format.height));
  header[8] = static_cast<std::uint8_t>(8 * element_size(format.type));
  header[9] = static_cast<std::uint8_t>(kColours[format.channels]);
  const std::string pixels = zlib_stream(image, encoding);
  std::vector<Chunk> chunks{{"IHDR", header, sizeof(header)}};
  constexpr std::size_t kMost = std::size_t{1} << 30;  // a chunk has less than 2^31 bytes
  for (std::size_t at = 0; at < pixels.size(); at += kMost)
    chunks.push_back({"IDAT", reinterpret_cast<const std::uint8_t*>(pixels.data()) + at,
                      std::min(kMost, pixels.size() - at)});
  chunks.push_back({"IEND", nullptr, 0});
  std::string file;
  file.reserve(pixels.size() + 1024);
  if (!write_chunks(chunks.data(), chunks.size(), file))
    throw Error(ExitCode::Io, "the PNG library refused to write");
  return file;
}

}  // namespace contorno
