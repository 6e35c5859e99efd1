#include "plugins/files/pictures/unread.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/error.h"

namespace contorno {
namespace {
using namespace std::string_view_literals;

struct Unread {
  std::string_view name, way;  ///< "an AVIF picture"; how to make something of it that is read
};
constexpr std::string_view kByFfmpeg = "save it as PNG: ffmpeg -i FILE FILE.png";
constexpr Unread kAvif{"an AVIF picture", "save it as PNG: ffmpeg -i FILE FILE.png"},
    kHeic{"an HEIC picture", "save it as PNG: heif-convert FILE FILE.png (package libheif-examples)"},
    kJxl{"a JPEG XL picture", "save it as PNG: djxl FILE FILE.png (package libjxl-tools)"},
    kWebP{"an animated WebP", "anim_dump of the package webp makes a picture of each of its frames"},
    kNut{"a NUT film", "put it into Matroska: ffmpeg -i FILE -c copy FILE.mkv"},
    kRaw{"a raw picture of a camera (CR3)", "develop it to TIFF or PNG"},
    kJxr{"a JPEG XR picture", "save it as PNG: JxrDecApp -i FILE -o FILE.tif (package libjxr-tools)"},
    kPsd{"a Photoshop picture", "save it as PNG or TIFF"},
    kDicom{"a DICOM file", "save its picture as PNG or TIFF, or its values as an array"},
    kFits{"a FITS file", "save its values as an array (.npy, HDF5, TIFF)"},
    kQoi{"a QOI picture", "save it as PNG: ffmpeg -i FILE FILE.png"},
    kApng{"an animated PNG", "make a video of it: ffmpeg -i FILE -c:v ffv1 FILE.mkv"},
    kDds{"a DirectDraw texture (DDS)", kByFfmpeg}, kSgi{"a picture of Silicon Graphics (SGI)", kByFfmpeg},
    kPcx{"a PCX picture", kByFfmpeg}, kIco{"a Windows icon (ICO)", kByFfmpeg},
    kIcns{"an icon of macOS (ICNS)", "save its picture as PNG"},
    kHdr{"a Radiance picture (HDR)", "save its values as an array, or as TIFF of floats"},
    kPfm{"a portable float map (PFM)", "save its values as an array, or as TIFF of floats"},
    kXcf{"a GIMP picture (XCF)", "export it as PNG"},
    kNifti{"a NIfTI volume", "save its values as an array (.npy, HDF5, TIFF)"},
    kNrrd{"an NRRD volume", "save its values as an array (.npy, HDF5, TIFF)"};

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

std::uint32_t big_endian(std::string_view four) {
  std::uint32_t value = 0;
  for (const char c : four) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

/// PNG, third edition, 11.3.2: a chunk in front of the samples says how many frames there are. A viewer of
/// still pictures shows one of them, and nobody learns of the others.
bool is_animated_png(std::string_view start) {
  constexpr std::string_view kSignature = "\x89PNG\r\n\x1A\n"sv;
  constexpr std::size_t kHead = 8, kChecksum = 4;  // of a chunk: its length and name in front, and behind it
  if (!start.starts_with(kSignature)) return false;
  start.remove_prefix(kSignature.size());
  while (start.size() >= kHead + 4) {
    const std::string_view name = start.substr(4, 4);
    if (name == "acTL") return big_endian(start.substr(kHead, 4)) > 1;
    const std::uint64_t bytes = kHead + std::uint64_t{big_endian(start.substr(0, 4))} + kChecksum;
    if (name == "IDAT" || bytes > start.size()) return false;
    start.remove_prefix(bytes);
  }
  return false;
}

/// ZSoft's technical reference: the maker, a version, runs or none, bits a sample.
bool is_pcx(std::string_view start) {
  return start.size() > 3 && start[0] == '\x0A' && start[1] >= 0 && start[1] <= 5 &&
         (start[2] == 0 || start[2] == 1) &&
         (start[3] == 1 || start[3] == 2 || start[3] == 4 || start[3] == 8);
}

const Unread* by_place(std::string_view start) {
  constexpr std::size_t kDicomAt = 128, kNiftiAt = 344;
  const auto has = [&](std::size_t at, std::string_view bytes) {
    return start.size() > at && start.substr(at).starts_with(bytes);
  };
  if (is_animated_png(start)) return &kApng;
  if (is_pcx(start)) return &kPcx;
  if (has(kNiftiAt, "n+1\0"sv) || has(kNiftiAt, "ni1\0"sv) || has(4, "n+2\0"sv)) return &kNifti;
  return has(kDicomAt, "DICM"sv) ? &kDicom : nullptr;
}

const Unread* unread_format(std::string_view start) {
  constexpr std::size_t kFlagsAt = 20;
  constexpr unsigned kAnimated = 2;
  if (const Unread* found = by_brand(start)) return found;
  if (start.starts_with("RIFF"sv) && start.substr(8).starts_with("WEBPVP8X"sv) && start.size() > kFlagsAt)
    return (static_cast<unsigned char>(start[kFlagsAt]) & kAnimated) != 0 ? &kWebP : nullptr;
  struct Signature {
    std::string_view bytes;
    const Unread* format;
  };
  constexpr std::array kSignatures{
      Signature{"\xFF\x0A"sv, &kJxl},     Signature{"\0\0\0\x0CJXL \r\n\x87\n"sv, &kJxl},
      Signature{"II\xBC\x01"sv, &kJxr},   Signature{"8BPS\0"sv, &kPsd},
      Signature{"SIMPLE  ="sv, &kFits},   Signature{"qoif"sv, &kQoi},
      Signature{"DDS "sv, &kDds},         Signature{"\x01\xDA\0"sv, &kSgi},
      Signature{"\x01\xDA\x01"sv, &kSgi}, Signature{"icns"sv, &kIcns},
      Signature{"\0\0\x01\0"sv, &kIco},   Signature{"#?RADIANCE"sv, &kHdr},
      Signature{"#?RGBE"sv, &kHdr},       Signature{"PF\n"sv, &kPfm},
      Signature{"Pf\n"sv, &kPfm},         Signature{"gimp xcf"sv, &kXcf},
      Signature{"NRRD000"sv, &kNrrd},     Signature{"nut/multimedia container\0"sv, &kNut}};
  for (const auto& [bytes, format] : kSignatures)
    if (start.starts_with(bytes)) return format;
  return by_place(start);
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
