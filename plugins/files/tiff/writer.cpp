#include <tiffio.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/error.h"
#include "pipeline/shared/loops.h"
#include "plugins/files/levels/writer.h"
#include "plugins/files/tiff/parts.h"

namespace contorno::tiff {
namespace {

constexpr std::size_t kStripBytes = std::size_t{256} << 10;

/// The file in memory: the library goes back to link its pages, which the output file does not allow.
struct Memory {
  std::string bytes;
  std::size_t at = 0;
  std::string error;
};

Memory& memory_of(thandle_t handle) {
  return *static_cast<Memory*>(handle);
}
tmsize_t read_memory(thandle_t handle, void* to, tmsize_t size) {
  Memory& memory = memory_of(handle);
  const std::size_t some = std::min(static_cast<std::size_t>(size),
                                    memory.bytes.size() - std::min(memory.at, memory.bytes.size()));
  std::memcpy(to, memory.bytes.data() + memory.at, some);
  memory.at += some;
  return static_cast<tmsize_t>(some);
}
tmsize_t write_memory(thandle_t handle, void* from, tmsize_t size) {
  Memory& memory = memory_of(handle);
  const std::size_t end = memory.at + static_cast<std::size_t>(size);
  if (memory.bytes.size() < end) memory.bytes.resize(end);
  std::memcpy(memory.bytes.data() + memory.at, from, static_cast<std::size_t>(size));
  memory.at = end;
  return size;
}
toff_t seek_memory(thandle_t handle, toff_t offset, int from) {
  Memory& memory = memory_of(handle);
  const std::size_t base = from == SEEK_CUR ? memory.at : from == SEEK_END ? memory.bytes.size() : 0;
  memory.at = base + static_cast<std::size_t>(offset);
  return static_cast<toff_t>(memory.at);
}
int close_memory(thandle_t) {
  return 0;
}
toff_t size_of_memory(thandle_t handle) {
  return static_cast<toff_t>(memory_of(handle).bytes.size());
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Tiff = std::unique_ptr<TIFF, CloseTiff>;

void check(bool done, const char* doing) {
  if (!done) throw Error(ExitCode::Io, std::string("the TIFF library refused to ") + doing);
}

/// Some rows of one plane of one level.
struct Strip {
  const ImageView* image;
  int plane, begin, end;
  DeflatedPart made;
};

int rows_per_strip(const ImageFormat& format) {
  return std::clamp(static_cast<int>(kStripBytes / std::max<std::size_t>(1, format.row_bytes())), 1,
                    format.height);
}

/// Cuts the levels into strips, in the order in which libtiff numbers them.
std::vector<Strip> cut(std::span<const ImageView> levels) {
  std::vector<Strip> strips;
  for (const ImageView& level : levels) {
    const int rows = rows_per_strip(level.format);
    for (int plane = 0; plane < level.format.planes(); ++plane)
      for (int y = 0; y < level.format.height; y += rows)
        strips.push_back({&level, plane, y, std::min(level.format.height, y + rows), {}});
  }
  return strips;
}

/// TIFF's horizontal predictor: each sample minus its left neighbour of the same channel.
template <class T>
void difference(T* row, int pixels, int channels) {
  for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(pixels) * channels - 1; i >= channels; --i)
    row[i] = static_cast<T>(row[i] - row[i - channels]);
}

void compress(Strip& strip, int compression) {
  const ImageFormat& format = strip.image->format;
  const std::size_t row_bytes = format.row_bytes();
  const int channels = format.layout == Layout::Interleaved ? format.channels : 1;
  std::vector<std::uint8_t> bytes(row_bytes * static_cast<std::size_t>(strip.end - strip.begin));
  for (int y = strip.begin; y < strip.end; ++y) {
    std::uint8_t* row = bytes.data() + row_bytes * static_cast<std::size_t>(y - strip.begin);
    std::memcpy(row, strip.image->row<char>(y, strip.plane), row_bytes);
    if (compression == 0) continue;
    if (format.type == ElementType::U8) difference(row, format.width, channels);
    if (format.type == ElementType::U16)
      difference(reinterpret_cast<std::uint16_t*>(row), format.width, channels);
  }
  if (compression > 0)
    strip.made = deflate_part(bytes, compression, StreamKind::Whole);
  else
    strip.made.bytes.assign(bytes.begin(), bytes.end());
}

bool is_colour(const ImageFormat& format) {
  return format.layout == Layout::Interleaved && (format.channels == 3 || format.channels == 4);
}

void set_extra_samples(TIFF* tiff, const ImageFormat& format) {
  const bool colour = is_colour(format);
  const int extra = format.channels - (colour ? 3 : 1);
  if (extra == 0) return;
  const bool alpha = format.layout == Layout::Interleaved && extra == 1;
  const std::vector<std::uint16_t> kinds(static_cast<std::size_t>(extra),
                                         alpha ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED);
  check(TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, extra, kinds.data()) == 1, "take the channels");
}

void set_fields(TIFF* tiff, const ImageFormat& format, int compression, bool reduced) {
  const bool floats = format.type == ElementType::F32;
  const bool colour = is_colour(format);
  const auto set = [&](auto tag, auto value) {
    check(TIFFSetField(tiff, static_cast<std::uint32_t>(tag), value) == 1, "take the format of a level");
  };
  if (reduced) set(TIFFTAG_SUBFILETYPE, static_cast<int>(FILETYPE_REDUCEDIMAGE));
  set(TIFFTAG_IMAGEWIDTH, format.width);
  set(TIFFTAG_IMAGELENGTH, format.height);
  set(TIFFTAG_SAMPLESPERPIXEL, format.channels);
  set(TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * element_size(format.type)));
  set(TIFFTAG_SAMPLEFORMAT, static_cast<int>(floats ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT));
  set(TIFFTAG_PHOTOMETRIC, static_cast<int>(colour ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK));
  set(TIFFTAG_PLANARCONFIG,
      static_cast<int>(format.layout == Layout::Planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG));
  set(TIFFTAG_ROWSPERSTRIP, rows_per_strip(format));
  set(TIFFTAG_COMPRESSION, static_cast<int>(compression > 0 ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE));
  if (compression > 0 && !floats) set(TIFFTAG_PREDICTOR, static_cast<int>(PREDICTOR_HORIZONTAL));
  set_extra_samples(tiff, format);
}

}  // namespace

std::string encode(std::span<const ImageView> levels, const LevelEncoding& encoding) {
  std::vector<Strip> strips = cut(levels);
  for_tasks(encoding.threads, static_cast<int>(strips.size()),
            [&](int strip) { compress(strips[static_cast<std::size_t>(strip)], encoding.compression); });
  std::size_t bytes = 0;
  for (const Strip& strip : strips) bytes += strip.made.bytes.size();
  Memory memory;
  memory.bytes.reserve(bytes + (std::size_t{64} << 10));
  constexpr std::size_t kClassicLimit = std::size_t{4000} << 20;
  Tiff tiff(TIFFClientOpen("levels", bytes > kClassicLimit ? "w8" : "w", &memory, read_memory, write_memory,
                           seek_memory, close_memory, size_of_memory, nullptr, nullptr));
  check(tiff != nullptr, "begin a file");
  auto strip = strips.begin();
  for (const ImageView& level : levels) {
    set_fields(tiff.get(), level.format, encoding.compression, &level != levels.data());
    for (std::uint32_t number = 0; strip != strips.end() && strip->image == &level; ++strip, ++number) {
      const auto size = static_cast<tmsize_t>(strip->made.bytes.size());
      check(TIFFWriteRawStrip(tiff.get(), number, strip->made.bytes.data(), size) == size, "write a strip");
    }
    check(TIFFWriteDirectory(tiff.get()) == 1, "write a level");
  }
  tiff.reset();
  return std::move(memory.bytes);
}

}  // namespace contorno::tiff
