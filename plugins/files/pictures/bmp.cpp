// BMP: every header from OS/2's of 12 bytes to Windows' of 124, rows from below or from above, palettes, bit
// fields, run lengths, and a gap before the samples.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "base/error.h"
#include "plugins/files/pictures/numbers.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {
namespace {

using Pixel = std::array<std::uint8_t, kPictureChannels>;

constexpr std::size_t kFileHeader = 14;
constexpr std::uint32_t kOldHeader = 12, kOs2Header = 64;
/// Compressions, by their numbers.
constexpr std::uint32_t kPlain = 0, kRuns8 = 1, kRuns4 = 2, kFields = 3, kOs2Runs24 = 4, kJpeg = 4, kPng = 5,
                        kAlphaFields = 6;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ExitCode::BadData, why);
}
struct BmpHeader {
  std::uint32_t samples_at, size, width, height, bits, compression = kPlain, colours = 0;
  bool from_top = false;

  explicit BmpHeader(std::string_view file)
      : samples_at(little_endian(file, 10, 4)), size(little_endian(file, kFileHeader, 4)) {
    if (file.size() < kFileHeader + size) damaged("its header is cut off");
    const std::size_t side = size == kOldHeader ? 2 : 4, at = kFileHeader + 4;
    width = little_endian(file, at, side);
    height = little_endian(file, at + side, side);
    bits = little_endian(file, at + 2 * side + 2, 2);
    if (size == kOldHeader) return;
    from_top = height > INT32_MAX;
    if (from_top) height = 0U - height;
    if (size >= 20) compression = little_endian(file, at + 12, 4);
    if (size >= 36) colours = little_endian(file, at + 28, 4);
  }
  bool has_runs() const {
    return compression == kRuns8 || compression == kRuns4 ||
           (compression == kOs2Runs24 && size == kOs2Header);
  }
  bool has_fields() const {
    return (compression == kFields || compression == kAlphaFields) && size != kOs2Header;
  }
  /// Where the palette begins: behind the headers, and behind masks that are not part of the header.
  std::size_t palette_at() const {
    const std::size_t masks = size == 40 && has_fields() ? (compression == kAlphaFields ? 16 : 12) : 0;
    return kFileHeader + size + masks;
  }
  /// Bytes of the palette, as the header tells.
  std::size_t palette_bytes() const {
    const std::size_t most = bits <= 8 ? std::size_t{1} << bits : 0;
    return (colours == 0 ? most : std::min<std::size_t>(colours, most)) * (size == kOldHeader ? 3 : 4);
  }
  void check() const {
    const bool known =
        bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
    if (size < kOldHeader || (size > kOldHeader && size < 16)) damaged("its header has no known size");
    const bool fits = compression == kPlain   ? known
                      : compression == kRuns8 ? bits == 8
                      : compression == kRuns4 ? bits == 4
                      : has_fields()          ? bits == 16 || bits == 32
                                              : has_runs() && bits == 24;
    if (!fits)
      refuse(fmt::format("it is a BMP of {} bits and compression {}, which nobody reads here", bits,
                         compression));
  }
};

/// The colours of the file's palette, by sample value.
std::vector<Pixel> palette_of(std::string_view file, const BmpHeader& header) {
  const std::size_t entry = header.size == kOldHeader ? 3 : 4, at = header.palette_at();
  // Some files place their samples where the last colours would be, which no sample has.
  const std::size_t count = std::min(header.palette_bytes(), file.size() - std::min(at, file.size())) / entry;
  std::vector<Pixel> palette(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* const blue = reinterpret_cast<const std::uint8_t*>(file.data() + at + i * entry);
    palette[i] = {blue[2], blue[1], blue[0], 255};
  }
  return palette;
}

/// The neighbouring bits of a sample that are one colour channel.
class Field {
 public:
  explicit Field(std::uint32_t mask) : mask_(mask), shift_(mask == 0 ? 0 : std::countr_zero(mask)) {
    const std::uint32_t most = mask >> shift_;
    if ((most & (most + 1)) != 0) damaged("the bits of a colour do not lie together");
  }
  bool is_there() const { return mask_ != 0; }
  std::uint8_t of(std::uint32_t sample) const {
    return mask_ == 0 ? 0 : scale_to_byte((sample & mask_) >> shift_, mask_ >> shift_);
  }

 private:
  std::uint32_t mask_;
  int shift_;
};

/// Where red, green, blue and alpha lie in samples of 16 and 32 bits.
std::array<Field, kPictureChannels> fields_of(std::string_view file, const BmpHeader& header) {
  if (!header.has_fields()) {
    if (header.bits == 16) return {Field(0x7C00), Field(0x3E0), Field(0x1F), Field(0)};
    return {Field(0xFF0000), Field(0xFF00), Field(0xFF), Field(0)};
  }
  constexpr std::size_t kMasks = kFileHeader + 40;
  const bool alpha = header.size >= 56 || header.compression == kAlphaFields;
  const auto mask = [&](std::size_t i) { return Field(little_endian(file, kMasks + 4 * i, 4)); };
  return {mask(0), mask(1), mask(2), alpha ? mask(3) : Field(0)};
}

/// Row `y` of the file in the picture.
std::uint8_t* row_of(Picture& out, const BmpHeader& header, std::uint32_t y) {
  const std::size_t row = header.from_top ? y : header.height - 1 - y;
  return out.pixels.data() + row * header.width * kPictureChannels;
}

void put(const std::vector<Pixel>& palette, std::uint32_t index, std::uint8_t* to) {
  if (index >= palette.size())
    damaged(fmt::format("colour {} is beyond the {} of its palette", index, palette.size()));
  std::copy(palette[index].begin(), palette[index].end(), to);
}

void read_plain(std::string_view file, const BmpHeader& header, Picture& out) {
  const std::vector<Pixel> palette = header.bits <= 8 ? palette_of(file, header) : std::vector<Pixel>();
  const auto fields = fields_of(file, header);
  const std::size_t row_bytes = (std::size_t{header.width} * header.bits + 31) / 32 * 4;
  for (std::uint32_t y = 0; y < header.height; ++y) {
    const std::string_view row = file.substr(header.samples_at + y * row_bytes);
    std::uint8_t* to = row_of(out, header, y);
    for (std::uint32_t x = 0; x < header.width; ++x, to += kPictureChannels) {
      if (header.bits <= 8) {
        const std::size_t bit = std::size_t{x} * header.bits;
        const auto byte = static_cast<std::uint8_t>(row[bit / 8]);
        put(palette, byte >> (8 - header.bits - bit % 8) & ((1U << header.bits) - 1), to);
        continue;
      }
      const std::size_t bytes = header.bits / 8;
      const std::uint32_t sample = little_endian(row, x * bytes, bytes);
      for (std::size_t i = 0; i < 3; ++i) to[i] = fields[i].of(sample);
      to[3] = fields[3].is_there() ? fields[3].of(sample) : 255;
    }
  }
}

/// Samples as runs of equal ones, as they are, or left out, which leaves the first colour of the palette.
class Runs {
 public:
  Runs(std::string_view file, const BmpHeader& header, Picture& out)
      : file_(file), header_(header), out_(out), at_(header.samples_at) {
    if (header.bits <= 8) palette_ = palette_of(file, header);
  }

  void read() {
    const Pixel ground = palette_.empty() ? Pixel{0, 0, 0, 255} : palette_.front();
    for (std::size_t i = 0; i < out_.pixels.size(); i += kPictureChannels)
      std::copy(ground.begin(), ground.end(), out_.pixels.begin() + static_cast<std::ptrdiff_t>(i));
    while (y_ < header_.height) {
      const std::uint32_t count = byte(), code = count == 0 ? byte() : 0;
      if (count > 0) {
        read_run(count);
      } else if (code == 0) {  // the end of a row
        x_ = 0, ++y_;
      } else if (code == 1) {  // the end of the picture
        return;
      } else if (code == 2) {  // a step to the right and on
        x_ += byte();
        y_ += byte();
      } else {
        read_as_they_are(code);
      }
    }
  }

 private:
  std::uint32_t byte() {
    if (at_ >= file_.size()) damaged("the file is cut off, its end is missing");
    return static_cast<std::uint8_t>(file_[at_++]);
  }
  Pixel colour() {
    const auto blue = static_cast<std::uint8_t>(byte()), green = static_cast<std::uint8_t>(byte());
    return {static_cast<std::uint8_t>(byte()), green, blue, 255};
  }
  /// Where the next sample goes; those beyond the end of a row, which some programs write, go nowhere.
  std::uint8_t* next() {
    if (x_ >= header_.width || y_ >= header_.height) return nowhere_.data();
    return row_of(out_, header_, y_) + std::size_t{x_++} * kPictureChannels;
  }
  /// Sample `number` of a run: the byte `pair` itself, or of 4-bit pictures one of its halves, the upper
  /// first.
  std::uint32_t half(std::uint32_t pair, std::uint32_t number) const {
    return header_.bits == 8 ? pair : number % 2 == 0 ? pair >> 4 : pair & 15;
  }
  void read_run(std::uint32_t count) {
    if (header_.bits == 24) {
      const Pixel pixel = colour();
      for (; count > 0; --count) std::copy(pixel.begin(), pixel.end(), next());
      return;
    }
    const std::uint32_t sample = byte();
    for (std::uint32_t i = 0; i < count; ++i) put(palette_, half(sample, i), next());
  }
  void read_as_they_are(std::uint32_t count) {
    const std::size_t begin = at_;
    std::uint32_t sample = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (header_.bits == 24) {
        const Pixel pixel = colour();
        std::copy(pixel.begin(), pixel.end(), next());
        continue;
      }
      if (header_.bits == 8 || i % 2 == 0) sample = byte();
      put(palette_, half(sample, i), next());
    }
    if ((at_ - begin) % 2 != 0) byte();  // what follows begins at an even place
  }

  std::string_view file_;
  const BmpHeader& header_;
  Picture& out_;
  std::vector<Pixel> palette_;
  Pixel nowhere_{};
  std::size_t at_;
  std::uint32_t x_ = 0, y_ = 0;
};

}  // namespace

ExifOrientation decode_bmp(std::string_view file, std::uint64_t max_pixels, Picture& out) {
  BmpHeader header(file);
  const bool os2 = header.size == kOs2Header;
  if (!os2 && header.compression == kJpeg && file.size() > header.samples_at)
    return decode_jpeg(file.substr(header.samples_at), max_pixels, out);
  if (!os2 && header.compression == kPng && file.size() > header.samples_at)
    return decode_png(file.substr(header.samples_at), max_pixels, out);
  header.check();
  check_picture_size(header.width, header.height, max_pixels);
  const std::size_t behind = header.palette_at();
  if (header.samples_at == 0 || (header.bits <= 8 && header.samples_at == behind))  // some forget the palette
    header.samples_at = static_cast<std::uint32_t>(behind + header.palette_bytes());
  if (header.samples_at < kFileHeader + header.size) damaged("its samples begin within its header");
  const std::size_t row_bits = std::size_t{header.width} * header.bits;
  // The last row needs no padding.
  const std::uint64_t least =
      header.has_runs() ? header.samples_at + std::uint64_t{2}
                        : header.samples_at + (row_bits + 31) / 32 * 4 * std::uint64_t{header.height - 1} +
                              (row_bits + 7) / 8;
  if (file.size() < least)
    refuse(
        fmt::format("the picture is cut off: it has {} bytes, its header tells of {}", file.size(), least));
  out.width = static_cast<int>(header.width), out.height = static_cast<int>(header.height);
  out.pixels.resize(std::size_t{header.width} * header.height * kPictureChannels);
  if (header.has_runs())
    Runs(file, header, out).read();
  else
    read_plain(file, header, out);
  return ExifOrientation::Upright;
}

}  // namespace contorno
