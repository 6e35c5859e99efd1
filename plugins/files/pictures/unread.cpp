#include "plugins/files/pictures/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "cuda/error.h"

namespace contorno {
namespace {
using namespace std::string_view_literals;

struct Unread {
  std::string_view name, way;  ///< "an AVIF picture"; how to make something of it that is read
};
constexpr Unread kAvif{"an AVIF picture", "save it as PNG: ffmpeg -i FILE FILE.png"},
    kHeic{"an HEIC picture", "save it as PNG: heif-convert FILE FILE.png (package libheif-examples)"},
    kJxl{"a JPEG XL picture", "save it as PNG: djxl FILE FILE.png (package libjxl-tools)"},
    kWebP{"an animated WebP", "anim_dump of the package webp makes a picture of each of its frames"},
    kRaw{"a raw picture of a camera (CR3)", "develop it to TIFF or PNG"},
    kJxr{"a JPEG XR picture", "save it as PNG: JxrDecApp -i FILE -o FILE.tif (package libjxr-tools)"},
    kPsd{"a Photoshop picture", "save it as PNG or TIFF"},
    kDicom{"a DICOM file", "save its picture as PNG or TIFF, or its values as an array"},
    kFits{"a FITS file", "save its values as an array (.npy, HDF5, TIFF)"},
    kQoi{"a QOI picture", "save it as PNG: ffmpeg -i FILE FILE.png"};

/// ISO/IEC 14496-12, 4.3: a box of brands, the first of which says what the file is. Sequences of pictures
/// (avis, hevc) are videos.
const Unread* by_brand(std::string_view start) {
  if (start.size() < 12 || start.substr(4, 4) != "ftyp") return nullptr;
  const std::string_view brand = start.substr(8, 4);
  if (brand == "avif") return &kAvif;
  if (brand == "crx ") return &kRaw;
  if (brand == "heic" || brand == "heix" || brand == "heim" || brand == "heis") return &kHeic;
  if (brand != "mif1") return nullptr;
  const auto end = static_cast<unsigned char>(start[3]);  // of the box, which is a short one
  return start.substr(0, end).find("avif") != std::string_view::npos ? &kAvif : &kHeic;
}

const Unread* unread_format(std::string_view start) {
  constexpr std::size_t kFlagsAt = 20, kDicomAt = 128;
  constexpr unsigned kAnimated = 2;
  if (const Unread* found = by_brand(start)) return found;
  if (start.starts_with("RIFF"sv) && start.substr(8).starts_with("WEBPVP8X"sv) && start.size() > kFlagsAt)
    return (static_cast<unsigned char>(start[kFlagsAt]) & kAnimated) != 0 ? &kWebP : nullptr;
  struct Signature {
    std::string_view bytes;
    const Unread* format;
  };
  constexpr std::array kSignatures{
      Signature{"\xFF\x0A"sv, &kJxl},   Signature{"\0\0\0\x0CJXL \r\n\x87\n"sv, &kJxl},
      Signature{"II\xBC\x01"sv, &kJxr}, Signature{"8BPS\0"sv, &kPsd},
      Signature{"SIMPLE  ="sv, &kFits}, Signature{"qoif"sv, &kQoi}};
  for (const auto& [bytes, format] : kSignatures)
    if (start.starts_with(bytes)) return format;
  return start.size() > kDicomAt && start.substr(kDicomAt).starts_with("DICM") ? &kDicom : nullptr;
}

}  // namespace

void refuse_unread(const std::string& path, std::string_view start) {
  if (const Unread* format = unread_format(start))
    throw Error(ExitCode::BadData, fmt::format("{}: it is {}, which contorno does not read; {}", path,
                                               format->name, format->way));
}

void refuse_unread(const std::string& path) {
  std::string start(kUnreadStart, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  refuse_unread(path, start);
}

}  // namespace contorno
