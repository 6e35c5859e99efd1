#include "plugins/files/pictures/exif.h"

#include <cstddef>
#include <optional>

namespace contorno {
namespace {

using namespace std::string_view_literals;

constexpr auto kExifName = "Exif\0\0"sv;

/// Numbers in either byte order. What lies behind the end reads as nothing.
class Reader {
 public:
  Reader(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes_.size() || size > bytes_.size() - at) return {};
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8 | static_cast<std::uint8_t>(bytes_[at + (big_endian_ ? i : size - 1 - i)]);
    return value;
  }

 private:
  std::string_view bytes_;
  bool big_endian_;
};

/// What follows "Exif\0\0" in the first application segment of that name, or nothing.
std::string_view exif_segment(std::string_view jpeg) {
  constexpr std::uint32_t kApp1 = 0xE1, kScan = 0xDA, kEnd = 0xD9;
  const Reader reader(jpeg, true);
  std::size_t at = 2;  // behind the start of the image
  while (reader.number(at, 1) == 0xFFU) {
    const auto marker = reader.number(at + 1, 1);
    const auto length = reader.number(at + 2, 2);
    if (marker == 0xFFU) {  // a fill byte
      ++at;
      continue;
    }
    if (!marker || marker == kScan || marker == kEnd || !length || *length < 2) break;
    const std::string_view payload = jpeg.substr(at + 4).substr(0, *length - 2);
    if (marker == kApp1 && payload.starts_with(kExifName)) return payload.substr(kExifName.size());
    at += 2 + *length;
  }
  return {};
}

}  // namespace

ExifOrientation orientation_of_number(std::uint32_t value) {
  return value >= 1 && value <= 8 ? static_cast<ExifOrientation>(value) : ExifOrientation::Upright;
}

ExifOrientation exif_orientation(std::string_view jpeg) {
  return tiff_orientation(exif_segment(jpeg));
}

ExifOrientation webp_orientation(std::string_view webp) {
  constexpr std::size_t kFirstChunk = 12, kChunkHeader = 8;
  const Reader reader(webp, false);
  for (std::size_t at = kFirstChunk; at < webp.size();) {
    const auto length = reader.number(at + 4, 4);
    if (!length) break;
    std::string_view payload = webp.substr(at + kChunkHeader).substr(0, *length);
    if (webp.substr(at, 4) == "EXIF") {
      if (payload.starts_with(kExifName)) payload.remove_prefix(kExifName.size());  // as some write it
      return tiff_orientation(payload);
    }
    at += kChunkHeader + *length + *length % 2;
  }
  return ExifOrientation::Upright;
}

ExifOrientation tiff_orientation(std::string_view exif) {
  constexpr std::uint32_t kOrientationTag = 0x0112, kShort = 3;
  constexpr std::size_t kDirectoryAt = 4, kEntryBytes = 12;
  const bool big_endian = exif.starts_with("MM\0*"sv);
  if (!big_endian && !exif.starts_with("II*\0"sv)) return ExifOrientation::Upright;
  const Reader reader(exif, big_endian);
  const std::size_t directory = reader.number(kDirectoryAt, 4).value_or(0);
  const std::size_t entries = reader.number(directory, 2).value_or(0);
  for (std::size_t entry = 0; entry < entries; ++entry) {
    const std::size_t at = directory + 2 + entry * kEntryBytes;
    const auto tag = reader.number(at, 2);
    if (!tag) break;
    if (tag != kOrientationTag) continue;
    if (reader.number(at + 2, 2) == kShort)
      return orientation_of_number(reader.number(at + 8, 2).value_or(0));
    break;
  }
  return ExifOrientation::Upright;
}

}  // namespace contorno
