#include <fmt/format.h>
#include <tiffio.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "cuda/error.h"
#include "plugins/files/pictures/tiff.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/files/tiff/parts.h"

namespace contorno::tiff {
namespace {

/// More than any of the file's methods packs into a byte.
constexpr std::uint64_t kMostPacked = 4096;

/// A tag's value, or the one that it has where it is left out.
std::uint16_t short_tag(TIFF* file, std::uint32_t tag) {
  std::uint16_t value = 0;
  TIFFGetFieldDefaulted(file, tag, &value);
  return value;
}
std::uint32_t long_tag(TIFF* file, std::uint32_t tag) {
  std::uint32_t value = 0;
  TIFFGetField(file, tag, &value);
  return value;
}

class TiffReader final : public TiffFile {
 public:
  explicit TiffReader(const std::string& path);
  const std::string& path() const override { return path_; }
  int pages() override;
  void seek(int page) override;
  ImageFormat format() override;
  void read_samples(std::span<std::byte> samples) override;
  ExifOrientation read_picture(std::uint64_t max_pixels, Picture& out) override;

 private:
  struct Close {
    void operator()(TIFF* file) const { TIFFClose(file); }
  };
  struct Complaint {
    std::string sentence;
    bool warnings_count = false;
  };
  static int on_error(TIFF* file, void* complaint, const char* module, const char* format, va_list list);
  static int on_warning(TIFF* file, void* complaint, const char* module, const char* format, va_list list);
  [[noreturn]] void damaged(const std::string& why) const;
  void check_room(std::uint64_t bytes);
  void read_strips(std::span<std::byte> samples, std::size_t row_bytes);
  void read_tiles(std::span<std::byte> samples, std::size_t row_bytes);

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  Complaint complaint_;
  std::unique_ptr<TIFF, Close> file_;
  int pages_ = 0;  ///< 0: not counted
  std::vector<std::uint32_t> raster_;
  std::vector<std::byte> tile_;
};

int TiffReader::on_error(TIFF*, void* complaint, const char*, const char* format, va_list list) {
  auto* self = static_cast<Complaint*>(complaint);
  char text[300];
  std::vsnprintf(text, sizeof(text), format, list);
  if (self->sentence.empty()) self->sentence = text;
  return 1;
}

int TiffReader::on_warning(TIFF* file, void* complaint, const char* module, const char* format,
                           va_list list) {
  // Directories are full of tags that libtiff does not know and that do not matter.
  return static_cast<Complaint*>(complaint)->warnings_count ? on_error(file, complaint, module, format, list)
                                                            : 1;
}

void TiffReader::damaged(const std::string& why) const {
  throw Error(ExitCode::BadData, fmt::format("'{}' is not a readable TIFF file: {}", path_,
                                             complaint_.sentence.empty() ? why : complaint_.sentence));
}

TiffReader::TiffReader(const std::string& path) : path_(path) {
  OpenFile file(path);
  file_bytes_ = file.bytes();
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, &complaint_);
  TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, &complaint_);
  file_.reset(TIFFFdOpenExt(file.descriptor(), path.c_str(), "r", options));
  TIFFOpenOptionsFree(options);
  if (!file_) damaged("it has no directory");
  file.release();  // libtiff closes it
}

int TiffReader::pages() {
  if (pages_ > 0) return pages_;
  int count = 1;
  if (TIFFSetDirectory(file_.get(), 0) == 0) damaged("it has no directory");
  while (TIFFReadDirectory(file_.get()) != 0) {
    if (count == kMaxPages) damaged(fmt::format("it has more than {} pages", kMaxPages));
    ++count;
  }
  if (!complaint_.sentence.empty()) damaged("");
  TIFFSetDirectory(file_.get(), 0);
  return pages_ = count;
}

void TiffReader::seek(int page) {
  const auto wanted = static_cast<tdir_t>(page), current = TIFFCurrentDirectory(file_.get());
  if (current == wanted) return;
  // The one that follows is found without going through all that come before.
  const int found =
      current + 1 == wanted ? TIFFReadDirectory(file_.get()) : TIFFSetDirectory(file_.get(), wanted);
  if (found == 0) damaged(fmt::format("there is no page {}", page));
}

ImageFormat TiffReader::format() {
  TIFF* file = file_.get();
  const std::uint32_t width = long_tag(file, TIFFTAG_IMAGEWIDTH),
                      height = long_tag(file, TIFFTAG_IMAGELENGTH);
  const int bits = short_tag(file, TIFFTAG_BITSPERSAMPLE), kind = short_tag(file, TIFFTAG_SAMPLEFORMAT);
  const int channels = short_tag(file, TIFFTAG_SAMPLESPERPIXEL);
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    damaged(fmt::format("a page is {}x{}, allowed are sides of 1 to {} px", width, height, kMaxSide));
  ImageFormat format{
      .width = static_cast<int>(width), .height = static_cast<int>(height), .channels = channels};
  const bool real = kind == SAMPLEFORMAT_IEEEFP;
  if (kind == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16))
    format.type = bits == 8 ? ElementType::U8 : ElementType::U16;
  else if (real && (bits == 16 || bits == 32 || bits == 64))
    format.type = bits == 16 ? ElementType::F16 : bits == 32 ? ElementType::F32 : ElementType::F64;
  else
    damaged(
        fmt::format("its samples are {} of {} bits, allowed are unsigned integers of 8 or 16 bits and "
                    "floating point of 16, 32 or 64",
                    real                        ? "floating point"
                    : kind == SAMPLEFORMAT_UINT ? "unsigned integers"
                                                : "numbers",
                    bits));
  if (channels > 1 && short_tag(file, TIFFTAG_PLANARCONFIG) != PLANARCONFIG_CONTIG)
    damaged("its channels lie apart, allowed are pixels that lie together");
  return format;
}

/// A header may tell of any size; the bytes behind it are what counts.
void TiffReader::check_room(std::uint64_t bytes) {
  if (bytes / kMostPacked > file_bytes_)
    damaged(fmt::format("{} bytes are too few for what its header tells", file_bytes_));
}

void TiffReader::read_samples(std::span<std::byte> samples) {
  const ImageFormat page = format();
  if (samples.size() != page.row_bytes() * static_cast<std::size_t>(page.height))
    throw InternalError("a page is read into memory of another size");
  check_room(samples.size());
  complaint_.warnings_count = true;
  if (TIFFIsTiled(file_.get()) != 0)
    read_tiles(samples, page.row_bytes());
  else
    read_strips(samples, page.row_bytes());
  complaint_.warnings_count = false;
  if (!complaint_.sentence.empty()) damaged("");
}

void TiffReader::read_strips(std::span<std::byte> samples, std::size_t row_bytes) {
  const std::size_t strip_bytes =
      std::min<std::size_t>(static_cast<std::size_t>(TIFFStripSize(file_.get())), samples.size());
  if (strip_bytes == 0 || strip_bytes % row_bytes != 0) damaged("its strips are not whole rows");
  std::uint32_t strip = 0;
  for (std::size_t at = 0; at < samples.size(); at += strip_bytes, ++strip) {
    const auto bytes = static_cast<tmsize_t>(std::min(strip_bytes, samples.size() - at));
    if (TIFFReadEncodedStrip(file_.get(), strip, samples.data() + at, bytes) != bytes)
      damaged("samples are missing");
  }
}

void TiffReader::read_tiles(std::span<std::byte> samples, std::size_t row_bytes) {
  TIFF* file = file_.get();
  const std::size_t tile_rows = long_tag(file, TIFFTAG_TILELENGTH), rows = samples.size() / row_bytes;
  const auto tile_row_bytes = static_cast<std::size_t>(TIFFTileRowSize(file));
  const auto tile_bytes = static_cast<std::size_t>(TIFFTileSize(file));
  if (tile_rows == 0 || tile_row_bytes == 0 || tile_row_bytes * tile_rows != tile_bytes)
    damaged("its tiles have no size");
  check_room(tile_bytes);
  tile_.resize(tile_bytes);
  std::uint32_t tile = 0;
  for (std::size_t y = 0; y < rows; y += tile_rows)
    for (std::size_t x = 0; x < row_bytes; x += tile_row_bytes, ++tile) {
      if (TIFFReadEncodedTile(file, tile, tile_.data(), static_cast<tmsize_t>(tile_bytes)) < 0)
        damaged("samples are missing");
      const std::size_t bytes = std::min(tile_row_bytes, row_bytes - x);
      for (std::size_t row = 0; row < std::min(tile_rows, rows - y); ++row)
        std::memcpy(samples.data() + (y + row) * row_bytes + x, tile_.data() + row * tile_row_bytes, bytes);
    }
}

ExifOrientation TiffReader::read_picture(std::uint64_t max_pixels, Picture& out) {
  TIFF* file = file_.get();
  const std::uint32_t width = long_tag(file, TIFFTAG_IMAGEWIDTH),
                      height = long_tag(file, TIFFTAG_IMAGELENGTH);
  check_picture_size(width, height, max_pixels);
  const std::size_t pixels = std::size_t{width} * height;
  check_room(pixels);  // of at least a bit each, and usually many more
  char why[1024] = "";
  if (TIFFRGBAImageOK(file, why) == 0) damaged(why);
  TIFFRGBAImage image{};
  if (TIFFRGBAImageBegin(&image, file, 1, why) == 0) damaged(why);
  image.req_orientation = image.orientation;  // as stored
  raster_.resize(pixels);
  complaint_.warnings_count = true;
  const int whole = TIFFRGBAImageGet(&image, raster_.data(), width, height);
  complaint_.warnings_count = false;
  TIFFRGBAImageEnd(&image);
  if (whole == 0 || !complaint_.sentence.empty()) damaged("samples are missing");
  out.width = static_cast<int>(width), out.height = static_cast<int>(height);
  out.pixels.resize(pixels * kPictureChannels);
  // libtiff packs red into the lowest byte; its colours are multiplied by alpha.
  std::uint8_t* to = out.pixels.data();
  for (const std::uint32_t pixel : raster_) {
    const std::uint32_t alpha = TIFFGetA(pixel);
    const auto plain = [alpha](std::uint32_t value) {
      return static_cast<std::uint8_t>(
          alpha == 0 || alpha == 255 ? value : std::min(255U, (value * 255 + alpha / 2) / alpha));
    };
    *to++ = plain(TIFFGetR(pixel));
    *to++ = plain(TIFFGetG(pixel));
    *to++ = plain(TIFFGetB(pixel));
    *to++ = static_cast<std::uint8_t>(alpha);
  }
  return orientation_of_number(short_tag(file, TIFFTAG_ORIENTATION));
}

}  // namespace

std::unique_ptr<TiffFile> open_file(const std::string& path) {
  return std::make_unique<TiffReader>(path);
}

}  // namespace contorno::tiff
