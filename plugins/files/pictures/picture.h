// Pictures in memory, and the decoders of JPEG (by libjpeg-turbo) and PNG (by libpng), for which every
// warning of these libraries is an error, and of BMP, TGA and PNM. They are functions without state; any
// thread may call them.
//
// The pixels are those of Pillow and OpenCV, bit for bit: the exact inverse transform, chroma interpolated
// between its samples, integer arithmetic that is the same on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/files/pictures/exif.h"

namespace contorno {

/// U8, interleaved, red green blue alpha, rows without gaps.
struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;
};

inline constexpr int kPictureChannels = 4;
inline constexpr std::uint64_t kDefaultMaxPixels = 128'000'000;
inline constexpr int kMaxPictureSide = 16384;

/// Throws Error(BadData) when a header tells of a larger picture; called before memory is taken for it.
void check_picture_size(std::uint64_t width, std::uint64_t height, std::uint64_t max_pixels);

/// Each decodes a whole file into `out`, as it is stored, and returns how it has to be turned. Memory is
/// touched row by row as rows arrive (of an interlaced PNG at once), so that a header alone costs none.
/// Throws Error(BadData) with a sentence (without the file's name) for whatever a decoder reports: damage,
/// missing data, a picture of more than `max_pixels`.
ExifOrientation decode_jpeg(std::string_view file, std::uint64_t max_pixels, Picture& out);
ExifOrientation decode_png(std::string_view file, std::uint64_t max_pixels, Picture& out);
ExifOrientation decode_bmp(std::string_view file, std::uint64_t max_pixels, Picture& out);
ExifOrientation decode_tga(std::string_view file, std::uint64_t max_pixels, Picture& out);
ExifOrientation decode_pnm(std::string_view file, std::uint64_t max_pixels, Picture& out);  ///< PBM to PAM

/// Whether a file may be one: by its first three bytes, and by its first 18, of which none is a signature.
bool is_pnm(std::string_view file);
bool is_tga(std::string_view file);

/// A picture whose samples are numbers that stand for something: grey values, or the indices of a palette.
struct LabelPicture {
  int width = 0, height = 0;
  std::vector<std::uint16_t> labels;  ///< row by row
};
/// Decodes a grey PNG of up to 16 bits, or one with a palette. Throws as decode_png, and for colours.
LabelPicture decode_png_labels(std::string_view file, std::uint64_t max_pixels);

/// What is wrong with an encoded picture that another library decodes.
struct PictureComplaint {
  enum class Kind : std::uint8_t {
    None,
    Stray,  ///< bytes too many before a marker: the trace of changed bits, and the way of some cameras
    Damage
  };
  Kind kind = Kind::None;
  std::string sentence;
};

/// Reads all of the JPEG, or of its two fields one after the other, without making a picture of it: most of
/// the work of decoding is left out, but not that of the codes. A missing end marker alone is no damage.
/// Never throws for damaged content.
PictureComplaint jpeg_complaint(std::string_view file);

/// Turns `picture` upright; `scratch` is memory that is kept from picture to picture.
void turn_upright(Picture& picture, ExifOrientation orientation, std::vector<std::uint8_t>& scratch);

}  // namespace contorno
