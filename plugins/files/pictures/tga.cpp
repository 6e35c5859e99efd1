// Truevision's TGA: colours, grey and palettes, plain and as run lengths, from any of the four corners.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <vector>

#include "base/error.h"
#include "plugins/files/pictures/numbers.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {
namespace {

using Pixel = std::array<std::uint8_t, kPictureChannels>;

constexpr std::size_t kHeader = 18;
constexpr std::uint32_t kPalette = 1, kColour = 2, kGrey = 3, kRuns = 8;  // kRuns is added to the others

struct TgaHeader {
  std::uint32_t identity, has_palette, kind, first, colours, colour_bits, width, height, bits, alpha_bits;
  bool runs, from_right, from_top, interleaved;

  explicit TgaHeader(std::string_view file)
      : identity(little_endian(file, 0, 1)),
        has_palette(little_endian(file, 1, 1)),
        kind(little_endian(file, 2, 1) & ~kRuns),
        first(little_endian(file, 3, 2)),
        colours(little_endian(file, 5, 2)),
        colour_bits(little_endian(file, 7, 1)),
        width(little_endian(file, 12, 2)),
        height(little_endian(file, 14, 2)),
        bits(little_endian(file, 16, 1)) {
    const std::uint32_t how = little_endian(file, 17, 1);
    runs = (little_endian(file, 2, 1) & kRuns) != 0;
    alpha_bits = how & 15;
    from_right = (how & 16) != 0;
    from_top = (how & 32) != 0;
    interleaved = (how & 192) != 0;
  }
  bool is_known() const {
    const auto is_colour = [](std::uint32_t count) {
      return count == 15 || count == 16 || count == 24 || count == 32;
    };
    if (interleaved || has_palette > 1 || (has_palette == 1 && !is_colour(colour_bits))) return false;
    return (kind == kPalette && has_palette == 1 && (bits == 8 || bits == 16)) ||
           (kind == kColour && is_colour(bits)) || (kind == kGrey && (bits == 8 || bits == 16));
  }
  std::size_t sample_bytes() const { return (bits + 7) / 8; }
  std::size_t palette_bytes() const { return std::size_t{colours} * ((colour_bits + 7) / 8); }
  std::size_t samples_at() const { return kHeader + identity + (has_palette == 1 ? palette_bytes() : 0); }
};

Pixel colour_of(std::uint32_t sample, std::uint32_t bits, bool has_alpha) {
  const auto byte = [sample](int shift) { return static_cast<std::uint8_t>(sample >> shift & 255); };
  if (bits > 16) return {byte(16), byte(8), byte(0), bits == 32 && has_alpha ? byte(24) : std::uint8_t{255}};
  const auto five = [sample](int shift) { return scale_to_byte(sample >> shift & 31, 31); };
  const bool clear = bits == 16 && has_alpha && (sample & 0x8000) == 0;
  return {five(10), five(5), five(0), clear ? std::uint8_t{0} : std::uint8_t{255}};
}

std::vector<Pixel> palette_of(std::string_view file, const TgaHeader& header) {
  std::vector<Pixel> palette;
  const std::size_t bytes = (header.colour_bits + 7) / 8;
  for (std::size_t i = 0; header.kind == kPalette && i < header.colours; ++i)
    palette.push_back(colour_of(little_endian(file, kHeader + header.identity + i * bytes, bytes),
                                header.colour_bits, header.colour_bits == 32));
  return palette;
}

/// Makes a pixel of each sample.
class Pixels {
 public:
  Pixels(std::string_view file, const TgaHeader& header)
      : header_(header), palette_(palette_of(file, header)) {}

  Pixel of(std::uint32_t sample) const {
    if (header_.kind == kColour) return colour_of(sample, header_.bits, header_.alpha_bits > 0);
    if (header_.kind == kGrey) {
      const auto grey = static_cast<std::uint8_t>(sample & 255);
      return {grey, grey, grey,
              header_.bits == 16 ? static_cast<std::uint8_t>(sample >> 8) : std::uint8_t{255}};
    }
    if (sample < header_.first || sample - header_.first >= palette_.size())
      damaged(fmt::format("colour {} is not among the {} of its palette", sample, palette_.size()));
    return palette_[sample - header_.first];
  }

 private:
  const TgaHeader& header_;
  std::vector<Pixel> palette_;
};

void read_samples(std::string_view file, const TgaHeader& header, Picture& out) {
  const Pixels pixels(file, header);
  const std::size_t bytes = header.sample_bytes(), count = std::size_t{header.width} * header.height;
  std::size_t at = header.samples_at();
  const auto next = [&] {
    if (file.size() - at < bytes) damaged("the file is cut off, its end is missing");
    at += bytes;
    return pixels.of(little_endian(file, at - bytes, bytes));
  };
  out.pixels.resize(count * kPictureChannels);
  for (std::size_t done = 0; done < count;) {
    std::size_t some = count;
    bool equal = false;
    if (header.runs) {
      if (at >= file.size()) damaged("the file is cut off, its end is missing");
      const auto packet = static_cast<std::uint8_t>(file[at++]);
      some = 1U + (packet & 127U), equal = packet >= 128;
      if (some > count - done) damaged("a run goes beyond the picture");
    }
    Pixel pixel{};
    for (std::size_t i = 0; i < some; ++i, ++done) {
      if (i == 0 || !equal) pixel = next();
      std::memcpy(out.pixels.data() + done * kPictureChannels, pixel.data(), kPictureChannels);
    }
  }
}

}  // namespace

bool is_tga(std::string_view file) {
  return file.size() >= kHeader && TgaHeader(file).is_known();
}

ExifOrientation decode_tga(std::string_view file, std::uint64_t max_pixels, Picture& out) {
  const TgaHeader header(file);
  if (file.size() < kHeader || !header.is_known())
    throw Error(ExitCode::BadData, "it is no TGA picture, or one of a kind that is not read here");
  check_picture_size(header.width, header.height, max_pixels);
  const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
  // A run of up to 128 takes a byte and a sample.
  const std::uint64_t least =
      header.samples_at() +
      (header.runs ? (pixels + 127) / 128 * (1 + header.sample_bytes()) : pixels * header.sample_bytes());
  if (file.size() < least)
    damaged(fmt::format("the file is cut off: it has {} bytes, its header tells of {}", file.size(), least));
  read_samples(file, header, out);
  out.width = static_cast<int>(header.width), out.height = static_cast<int>(header.height);
  // Rows come from below unless the header says otherwise.
  if (header.from_right)
    return header.from_top ? ExifOrientation::MirrorHorizontally : ExifOrientation::Turn180;
  return header.from_top ? ExifOrientation::Upright : ExifOrientation::MirrorVertically;
}

}  // namespace contorno
