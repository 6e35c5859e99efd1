// Pages as pictures of 8 bits. Grey and RGB of 8 and 16 bits are taken as they are stored, for what libtiff
// makes of them is multiplied by any fourth band; it converts all others.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "plugins/files/tiff/reader.h"

namespace contorno::tiff {
namespace {

/// Which sample of a pixel says how opaque it is, and whether the colours are multiplied by it.
struct Alpha {
  std::optional<int> sample;
  bool multiplied = false;
};

Alpha alpha_of(TIFF* file, int colours) {
  std::uint16_t count = 0;
  const std::uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(file, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  for (int extra = 0; extra < count; ++extra)
    if (kinds[extra] == EXTRASAMPLE_ASSOCALPHA || kinds[extra] == EXTRASAMPLE_UNASSALPHA)
      return {colours + extra, kinds[extra] == EXTRASAMPLE_ASSOCALPHA};
  return {};
}

/// Rounded to 8 bits as a PNG of 16 is.
std::uint8_t to_byte(std::uint32_t value, std::uint32_t most) {
  return static_cast<std::uint8_t>(most == 255 ? value : (value * 255 + 32895) >> 16);
}

/// `Sample` is what is stored: pixels of `channels` samples, the first one or three of which are colours.
template <class Sample>
void to_picture(const Sample* from, std::size_t pixels, int channels, bool inverted, int colours,
                const Alpha& alpha, std::uint8_t* to) {
  constexpr std::uint32_t kMost = static_cast<Sample>(~Sample{0});
  for (; pixels > 0; --pixels, from += channels, to += kPictureChannels) {
    const std::uint32_t opacity = alpha.sample ? from[*alpha.sample] : kMost;
    for (int i = 0; i < 3; ++i) {
      std::uint64_t value = from[colours == 1 ? 0 : i];
      if (alpha.multiplied && opacity > 0)
        value = std::min<std::uint64_t>(kMost, (value * kMost + opacity / 2) / opacity);
      to[i] = to_byte(static_cast<std::uint32_t>(inverted ? kMost - value : value), kMost);
    }
    to[3] = to_byte(opacity, kMost);
  }
}

}  // namespace

bool TiffReader::is_plain_picture() const {
  const std::uint16_t kind = short_tag(file_.get(), TIFFTAG_PHOTOMETRIC);
  const int bits = sample_kind().bits, channels = short_tag(file_.get(), TIFFTAG_SAMPLESPERPIXEL);
  const bool grey = kind == PHOTOMETRIC_MINISBLACK || kind == PHOTOMETRIC_MINISWHITE;
  return (bits == 8 || bits == 16) && ((grey && channels >= 1) || (kind == PHOTOMETRIC_RGB && channels >= 3));
}

void TiffReader::convert_picture(std::uint32_t width, std::uint32_t height, Picture& out) {
  const ImageFormat page = format();
  samples_.resize(page.row_bytes() * height);
  read_samples(samples_);
  const std::uint16_t kind = short_tag(file_.get(), TIFFTAG_PHOTOMETRIC);
  const int colours = kind == PHOTOMETRIC_RGB ? 3 : 1;
  const Alpha alpha = alpha_of(file_.get(), colours);
  const bool inverted = kind == PHOTOMETRIC_MINISWHITE;
  const std::size_t pixels = std::size_t{width} * height;
  out.pixels.resize(pixels * kPictureChannels);
  if (page.type == ElementType::U8)
    to_picture(reinterpret_cast<const std::uint8_t*>(samples_.data()), pixels, page.channels, inverted,
               colours, alpha, out.pixels.data());
  else
    to_picture(reinterpret_cast<const std::uint16_t*>(samples_.data()), pixels, page.channels, inverted,
               colours, alpha, out.pixels.data());
}

void TiffReader::let_library_convert(std::uint32_t width, std::uint32_t height, Picture& out) {
  TIFF* file = file_.get();
  check_blocks(std::uint64_t{width} * height * short_tag(file, TIFFTAG_BITSPERSAMPLE) / 8);
  char why[1024] = "";
  if (TIFFRGBAImageOK(file, why) == 0) damaged(why);
  TIFFRGBAImage image{};
  if (TIFFRGBAImageBegin(&image, file, 1, why) == 0) damaged(why);
  image.req_orientation = image.orientation;  // as stored
  raster_.resize(std::size_t{width} * height);
  complaint_.warnings_count = true;
  const int whole = TIFFRGBAImageGet(&image, raster_.data(), width, height);
  complaint_.warnings_count = false;
  TIFFRGBAImageEnd(&image);
  if (whole == 0 || !complaint_.sentence.empty()) damaged("samples are missing");
  out.pixels.resize(raster_.size() * kPictureChannels);
  std::uint8_t* to = out.pixels.data();
  for (const std::uint32_t pixel : raster_) {  // red is in the lowest byte
    *to++ = static_cast<std::uint8_t>(TIFFGetR(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetG(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetB(pixel));
    *to++ = static_cast<std::uint8_t>(TIFFGetA(pixel));
  }
}

ExifOrientation TiffReader::read_picture(std::uint64_t max_pixels, Picture& out) {
  find_pages();
  const std::uint32_t width = long_tag(file_.get(), TIFFTAG_IMAGEWIDTH),
                      height = long_tag(file_.get(), TIFFTAG_IMAGELENGTH);
  check_picture_size(width, height, max_pixels);
  if (const SampleKind kind = sample_kind(); !kind.is_number())
    damaged(
        fmt::format("its samples are {}, those of a picture are unsigned integers of up to 16 bits; the "
                    "source 'dataset' reads others as maps",
                    describe(kind)));
  if (is_plain_picture())
    convert_picture(width, height, out);
  else
    let_library_convert(width, height, out);
  out.width = static_cast<int>(width), out.height = static_cast<int>(height);
  return orientation_of_number(short_tag(file_.get(), TIFFTAG_ORIENTATION));
}

}  // namespace contorno::tiff
