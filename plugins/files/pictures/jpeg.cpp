// JPEG by libjpeg-turbo.
#include <fmt/format.h>

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
// The library's header needs the two above.
#include <jerror.h>
#include <jpeglib.h>

#include "base/error.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {
namespace {

/// What the library calls when something is wrong. It never comes back from there: a warning is damage that
/// the library would paint over.
struct Complaint {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char sentence[JMSG_LENGTH_MAX] = {};
  bool ended = false;  // there was no end marker
};

[[noreturn]] void give_up(j_common_ptr jpeg) {
  auto* complaint = reinterpret_cast<Complaint*>(jpeg->err);
  complaint->base.format_message(jpeg, complaint->sentence);
  std::longjmp(complaint->back, 1);  // NOLINT(cert-err52-cpp): the library knows no other way
}
void on_message(j_common_ptr jpeg, int level) {
  if (level < 0) give_up(jpeg);  // below 0 is a warning of damage; others are progress
}

/// A file needs at least a bit for each of its blocks of 8 x 8 samples, unless it uses arithmetic coding.
bool has_room_for_its_blocks(const jpeg_decompress_struct& jpeg, std::size_t file_bytes) {
  const auto blocks = [](JDIMENSION side) { return (std::uint64_t{side} + 7) / 8; };
  return jpeg.arith_code != 0 || blocks(jpeg.image_width) * blocks(jpeg.image_height) / 8 <= file_bytes;
}

/// Every complaint of the library comes back to where `complaint` was set up.
void take_complaints(jpeg_decompress_struct& jpeg, Complaint& complaint) {
  jpeg.err = jpeg_std_error(&complaint.base);
  complaint.base.error_exit = give_up;
  complaint.base.emit_message = on_message;
}

void give_bytes(jpeg_decompress_struct& jpeg, std::string_view file) {
  jpeg_mem_src(&jpeg, reinterpret_cast<const unsigned char*>(file.data()), file.size());
}

/// Some cameras leave the end marker out. If data is missing too, the library says that it came too early.
boolean give_end_marker(j_decompress_ptr jpeg) {
  static constexpr JOCTET kEnd[] = {0xFF, JPEG_EOI};
  jpeg->src->next_input_byte = kEnd;
  jpeg->src->bytes_in_buffer = sizeof kEnd;
  reinterpret_cast<Complaint*>(jpeg->err)->ended = true;
  return TRUE;
}

/// Ink to light as Pillow does it; the samples are stored inverted, 255 means no ink.
void from_inks(std::uint8_t* row, JDIMENSION width) {
  for (JDIMENSION x = 0; x < width; ++x, row += kPictureChannels) {
    const unsigned light = row[3];
    for (int i = 0; i < 3; ++i) {
      const unsigned product = (255U - row[i]) * light + 128;
      row[i] = static_cast<std::uint8_t>(light - (((product >> 8) + product) >> 8));
    }
    row[3] = 255;
  }
}

void read_rows(jpeg_decompress_struct& jpeg, Picture& out) {
  const std::size_t row_bytes = std::size_t{jpeg.output_width} * kPictureChannels;
  while (jpeg.output_scanline < jpeg.output_height) {
    const std::size_t at = jpeg.output_scanline * row_bytes;
    out.pixels.resize(at + row_bytes);  // within what was reserved
    JSAMPROW row = out.pixels.data() + at;
    jpeg_read_scanlines(&jpeg, &row, 1);
    if (jpeg.out_color_space == JCS_CMYK) from_inks(row, jpeg.output_width);
  }
}

enum class JpegResult : std::uint8_t { Decoded, Complained, TooSmall };

/// No object here may have a destructor: the library jumps over it.
template <class CheckSize>
JpegResult decode(jpeg_decompress_struct& jpeg, Complaint& complaint, std::string_view file, Picture& out,
                  const CheckSize& check_size) {
  take_complaints(jpeg, complaint);
  if (setjmp(complaint.back) != 0) return JpegResult::Complained;  // NOLINT(cert-err52-cpp)
  jpeg_create_decompress(&jpeg);
  give_bytes(jpeg, file);
  jpeg_read_header(&jpeg, TRUE);
  check_size(jpeg.image_width, jpeg.image_height);
  if (!has_room_for_its_blocks(jpeg, file.size())) return JpegResult::TooSmall;
  const bool inks = jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK;
  jpeg.out_color_space = inks ? JCS_CMYK : JCS_EXT_RGBA;
  jpeg.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&jpeg);
  read_rows(jpeg, out);
  jpeg_finish_decompress(&jpeg);
  return JpegResult::Decoded;
}

/// Reads one JPEG and leaves `file` as what comes behind it. Decodes an eighth of the size and no colour, for
/// which all codes are read and hardly anything is computed. No object here may have a destructor, as above.
JpegResult check(jpeg_decompress_struct& jpeg, Complaint& complaint, std::string_view& file) {
  take_complaints(jpeg, complaint);
  if (setjmp(complaint.back) != 0) return JpegResult::Complained;  // NOLINT(cert-err52-cpp)
  jpeg_create_decompress(&jpeg);
  give_bytes(jpeg, file);
  jpeg.src->fill_input_buffer = give_end_marker;
  jpeg_read_header(&jpeg, TRUE);
  if (!has_room_for_its_blocks(jpeg, file.size())) return JpegResult::TooSmall;
  if (jpeg.jpeg_color_space == JCS_YCbCr) jpeg.out_color_space = JCS_GRAYSCALE;
  jpeg.scale_num = 1, jpeg.scale_denom = 8;
  jpeg_start_decompress(&jpeg);
  const JDIMENSION samples = jpeg.output_width * static_cast<JDIMENSION>(jpeg.output_components);
  auto* const owner = reinterpret_cast<j_common_ptr>(&jpeg);
  JSAMPARRAY row = jpeg.mem->alloc_sarray(owner, JPOOL_IMAGE, samples, 1);
  while (jpeg.output_scanline < jpeg.output_height) jpeg_read_scanlines(&jpeg, row, 1);
  jpeg_finish_decompress(&jpeg);
  file.remove_prefix(file.size() - (complaint.ended ? 0 : jpeg.src->bytes_in_buffer));
  return JpegResult::Decoded;
}

struct Owner {
  jpeg_decompress_struct& jpeg;
  ~Owner() { jpeg_destroy_decompress(&jpeg); }
};

std::string too_small(const jpeg_decompress_struct& jpeg, std::size_t bytes) {
  return fmt::format("{} bytes are too few for {}x{} pixels", bytes, jpeg.image_width, jpeg.image_height);
}

}  // namespace

PictureComplaint jpeg_complaint(std::string_view file) {
  using namespace std::string_view_literals;
  using enum PictureComplaint::Kind;
  do {
    jpeg_decompress_struct jpeg{};
    Complaint complaint{};
    const Owner owner{jpeg};
    const std::size_t bytes = file.size();
    const JpegResult result = check(jpeg, complaint, file);
    if (result == JpegResult::TooSmall) return {Damage, too_small(jpeg, bytes)};
    if (result == JpegResult::Complained) {
      return {complaint.base.msg_code == JWRN_EXTRANEOUS_DATA ? Stray : Damage, complaint.sentence};
    }
    file.remove_prefix(std::min(file.size(), file.find_first_not_of("\0"sv)));  // between two fields
  } while (file.starts_with("\xFF\xD8"sv));
  return {};
}

ExifOrientation decode_jpeg(std::string_view file, std::uint64_t max_pixels, Picture& out) {
  jpeg_decompress_struct jpeg{};
  Complaint complaint{};
  const Owner owner{jpeg};
  out.pixels.clear();
  const JpegResult result = decode(jpeg, complaint, file, out, [&](JDIMENSION width, JDIMENSION height) {
    check_picture_size(width, height, max_pixels);
    out.width = static_cast<int>(width), out.height = static_cast<int>(height);
    out.pixels.reserve(std::size_t{width} * height * kPictureChannels);
  });
  if (result == JpegResult::Complained)
    throw Error(ExitCode::BadData, fmt::format("the picture is damaged ({})", complaint.sentence));
  if (result == JpegResult::TooSmall)
    throw Error(ExitCode::BadData, fmt::format("the picture is damaged ({})", too_small(jpeg, file.size())));
  return exif_orientation(file);
}

}  // namespace contorno
