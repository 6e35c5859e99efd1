// PNG by libpng.
#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <optional>
#include <string>

#include "base/error.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {
namespace {

/// The file as libpng reads it, and what it had to say. It never comes back from a complaint.
struct Reading {
  std::string_view file;
  std::size_t at = 0;
  std::uint64_t sample_bytes = 0;  // that are compressed
  char sentence[200] = {};
};

[[noreturn]] void give_up(png_structp png, png_const_charp sentence) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::strncpy(reading->sentence, sentence, sizeof(reading->sentence) - 1);
  png_longjmp(png, 1);
}

/// A warning counts unless it is about a chunk that does not change the pixels, as in "iCCP: known incorrect
/// sRGB profile". Such chunks' names begin with a small letter; that of transparency does too. That a
/// transparent colour is none that the samples can have makes nothing transparent.
void on_warning(png_structp png, png_const_charp sentence) {
  const std::string_view text(sentence);
  const bool optional = text.size() > 4 && text[4] == ':' && text[0] >= 'a' && text[0] <= 'z';
  if (optional && !text.starts_with("tRNS")) return;
  if (text.starts_with("tRNS chunk has out-of-range samples")) return;
  give_up(png, sentence);
}

void read_bytes(png_structp png, png_bytep to, std::size_t size) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (size > reading->file.size() - reading->at) give_up(png, "the file is cut off, its end is missing");
  std::memcpy(to, reading->file.data() + reading->at, size);
  reading->at += size;
}

/// The bytes of compressed samples in the file. They say how large a picture can be at most before anything
/// is allocated for it. Nothing where a chunk is longer than what is left of the file, for which libpng would
/// take memory.
std::optional<std::uint64_t> sample_bytes(std::string_view file) {
  constexpr std::size_t kSignature = 8, kAround = 12;  // length, name and checksum of a chunk
  std::uint64_t total = 0;
  for (std::size_t at = kSignature; at + kAround <= file.size();) {
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<std::uint8_t>(file[at + i]);
    if (length > file.size() - at - kAround) return std::nullopt;
    const std::string_view name = file.substr(at + 4, 4);
    if (name == "IDAT") total += length;
    if (name == "IEND") break;
    at += kAround + length;
  }
  return total;
}

/// Makes libpng give 8-bit RGBA, whatever is stored; 16 bits are rounded.
void set_transformations(png_structp png, png_infop) {
  png_set_expand(png);
  png_set_scale_16(png);
  png_set_gray_to_rgb(png);
  png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
}

void read_rows(png_structp png, std::size_t row_bytes, int passes, Picture& out) {
  const auto height = static_cast<std::size_t>(out.height);
  if (passes > 1) out.pixels.resize(height * row_bytes);  // each pass writes into all rows
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t y = 0; y < height; ++y) {
      if (passes == 1) out.pixels.resize((y + 1) * row_bytes);  // within what was reserved
      png_read_row(png, out.pixels.data() + y * row_bytes, nullptr);
    }
}

/// Labels are not colours: samples come as they are stored, in a byte each or, of 16 bits, in two.
void keep_labels(png_structp png, png_infop info) {
  const png_byte colours = png_get_color_type(png, info);
  if (colours != PNG_COLOR_TYPE_GRAY && colours != PNG_COLOR_TYPE_PALETTE)
    give_up(png, "it has colours or transparency, labels are grey or a palette");
  png_set_packing(png);
}

enum class PngResult : std::uint8_t { Decoded, Complained, TooSmall };

/// No object here may have a destructor: the library jumps over it.
template <class CheckSize>
PngResult decode(png_structp png, png_infop info, Picture& out, const CheckSize& check_size,
                 void (*set_transforms)(png_structp, png_infop)) {
  if (setjmp(png_jmpbuf(png)) != 0)
    return PngResult::Complained;  // NOLINT(cert-err52-cpp): it knows no other way
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  png_set_read_fn(png, reading, read_bytes);
  png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // check_size has the say
  png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_read_info(png, info);
  const std::uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
  check_size(width, height);
  // No stream of deflate becomes more than 1032 times as long.
  if (png_get_rowbytes(png, info) * height / 1032 > reading->sample_bytes) return PngResult::TooSmall;
  out.pixels.reserve(std::size_t{width} * height * kPictureChannels);
  set_transforms(png, info);
  const int passes = png_set_interlace_handling(png);
  png_read_update_info(png, info);
  read_rows(png, png_get_rowbytes(png, info), passes, out);
  png_read_end(png, info);
  return PngResult::Decoded;
}

ExifOrientation orientation_of(png_structp png, png_infop info) {
  png_bytep exif = nullptr;
  png_uint_32 size = 0;
  if (png_get_eXIf_1(png, info, &size, &exif) == 0 || exif == nullptr) return ExifOrientation::Upright;
  return tiff_orientation({reinterpret_cast<const char*>(exif), size});
}

/// libpng's structures for one file, and what it had to say.
struct PngReader {
  explicit PngReader(std::string_view file) : reading{.file = file} {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, give_up, on_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    if (info != nullptr) return;
    png_destroy_read_struct(&png, nullptr, nullptr);
    throw std::bad_alloc();
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  /// Throws Error(BadData) for damage; `complaint` is what the library's sentence stands behind.
  void decode_into(Picture& out, std::uint64_t max_pixels, void (*set_transforms)(png_structp, png_infop),
                   std::string_view complaint) {
    out.pixels.clear();
    const auto bytes = sample_bytes(reading.file);
    if (!bytes)
      throw Error(ExitCode::BadData, fmt::format("{} (the file is cut off, its end is missing)", complaint));
    reading.sample_bytes = *bytes;
    const auto check_size = [&](std::uint32_t width, std::uint32_t height) {
      check_picture_size(width, height, max_pixels);
      out.width = static_cast<int>(width), out.height = static_cast<int>(height);
    };
    const PngResult result = decode(png, info, out, check_size, set_transforms);
    if (result == PngResult::Complained)
      throw Error(ExitCode::BadData, fmt::format("{} ({})", complaint, reading.sentence));
    if (result == PngResult::TooSmall)
      throw Error(ExitCode::BadData, fmt::format("{} ({} bytes are too few for {}x{} pixels)", complaint,
                                                 reading.sample_bytes, out.width, out.height));
  }

  Reading reading;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

}  // namespace

ExifOrientation decode_png(std::string_view file, std::uint64_t max_pixels, Picture& out) {
  PngReader reader(file);
  reader.decode_into(out, max_pixels, set_transformations, "the picture is damaged");
  return orientation_of(reader.png, reader.info);
}

LabelPicture decode_png_labels(std::string_view file, std::uint64_t max_pixels) {
  PngReader reader(file);
  Picture stored;
  reader.decode_into(stored, max_pixels, keep_labels, "no labels can be read from the picture");
  LabelPicture out{stored.width, stored.height, {}};
  const std::size_t count = static_cast<std::size_t>(out.width) * static_cast<std::size_t>(out.height);
  const bool words = stored.pixels.size() == 2 * count;  // the high byte first
  out.labels.resize(count);
  for (std::size_t i = 0; i < count; ++i)
    out.labels[i] = words ? static_cast<std::uint16_t>(stored.pixels[2 * i] << 8 | stored.pixels[2 * i + 1])
                          : stored.pixels[i];
  return out;
}

}  // namespace contorno
