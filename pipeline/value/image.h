// Images as the pipeline sees them: a format (what the samples are) and a view (where they lie). Views own
// nothing; the slot or the caller owns the memory. Frames are 8-bit interleaved; class maps have one channel
// a class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/host_device.h"

namespace contorno {

/// The type of a sample. In class maps integers are probabilities, v / 255 (U8) or v / 65535 (U16); in frames
/// U8 is 0..255. F16 is IEEE binary16. F64 is used by find_contours only.
enum class ElementType : std::uint8_t { U8, U16, F16, F32, F64 };

/// Interleaved: H x W x C. Planar: C x H x W.
enum class Layout : std::uint8_t { Interleaved, Planar };

CONTORNO_HD constexpr std::size_t element_size(ElementType type) {
  switch (type) {
    case ElementType::U8:
      return 1;
    case ElementType::U16:
    case ElementType::F16:
      return 2;
    case ElementType::F32:
      return 4;
    case ElementType::F64:
      return 8;
  }
  return 0;
}

std::string_view name_of(ElementType type);
std::string_view name_of(Layout layout);

/// Where an image lies on the frame it came from: sample (x, y) has its centre at frame position
/// ((x + 0.5) * scale_x - 0.5 + offset_x, (y + 0.5) * scale_y - 0.5 + offset_y), in frame pixels.
struct Placement {
  double scale_x = 1, scale_y = 1, offset_x = 0, offset_y = 0;
  double frame_x(double x) const;
  double frame_y(double y) const;
  bool operator==(const Placement&) const = default;
};

/// How the side of a mipmap level is rounded when the side before is divided.
enum class LevelSizes : std::uint8_t { Floor, Ceil, Round };

/// What determines the mipmap levels of an image that holds a chain of them side by side.
/// pipeline/value/levels.h finds the place of each.
struct LevelAtlas {
  int width = 0, height = 0;  ///< of level 0
  int levels = 0;             ///< number of levels, with level 0; 0 in an ordinary image
  int divisor = 2;
  LevelSizes sizes = LevelSizes::Floor;
  bool operator==(const LevelAtlas&) const = default;
};

/// The format of an image: sides in px, at most kMaxSide, and what its samples are.
struct ImageFormat {
  int width = 0, height = 0, channels = 0;
  ElementType type = ElementType::U8;
  Layout layout = Layout::Interleaved;
  Placement placement{};
  LevelAtlas atlas{};

  std::size_t samples_per_row() const {
    return static_cast<std::size_t>(width) *
           (layout == Layout::Interleaved ? static_cast<std::size_t>(channels) : 1);
  }
  /// Bytes of the samples of a row, without padding.
  std::size_t row_bytes() const { return samples_per_row() * element_size(type); }
  int planes() const { return layout == Layout::Planar ? channels : 1; }
  bool operator==(const ImageFormat&) const = default;
};

inline constexpr int kMaxSide = 65536;

/// "640x480x4 uint8 interleaved", for messages and reports.
std::string describe(const ImageFormat& format);

/// An image in memory, which the view does not own. `row_pitch` and `plane_pitch` are in bytes; the bytes
/// after the end of a row have no meaning.
struct ImageView {
  void* data = nullptr;
  ImageFormat format{};
  std::ptrdiff_t row_pitch = 0;
  std::ptrdiff_t plane_pitch = 0;

  /// First sample of row `y` of plane `plane` (plane 0 is the whole image when interleaved).
  template <class T>
  CONTORNO_HD T* row(int y, int plane = 0) const {
    return reinterpret_cast<T*>(static_cast<char*>(data) + plane * plane_pitch + y * row_pitch);
  }
};

/// A view of packed_bytes() at `data`, with the pitches that slots use: rows at multiples of 64 bytes, planes
/// at multiples of kAlignment.
ImageView packed_view(void* data, const ImageFormat& format);
/// Bytes that packed_view covers.
std::size_t packed_bytes(const ImageFormat& format);

}  // namespace contorno
