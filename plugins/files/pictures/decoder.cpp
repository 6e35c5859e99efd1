#include "plugins/files/pictures/decoder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"
#include "pipeline/shared/module.h"
#include "plugins/files/pictures/unread.h"
#include "plugins/files/shared/file_names.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/files/shared/tiff_module.h"

namespace contorno {
namespace {

using namespace std::string_view_literals;

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{1} << 30;

/// Reads up to `bytes` from `begin` on; fewer at the end of the file.
void read_part(const OpenFile& file, const std::string& path, std::uint64_t begin, std::size_t bytes,
               std::string& out) {
  out.resize(bytes);
  std::size_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(file.descriptor(), out.data() + done, bytes - done, static_cast<off_t>(begin + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw read_error(path, errno);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  out.resize(done);
}

bool is_tiff(std::string_view start) {
  return start.starts_with("II*\0"sv) || start.starts_with("MM\0*"sv) || start.starts_with("II+\0"sv) ||
         start.starts_with("MM\0+"sv);
}

/// What decodes a whole file in memory, by how it begins; null where none does.
PictureDecoder::Decode decode_of(std::string_view start) {
  if (start.starts_with("\xFF\xD8\xFF"sv)) return decode_jpeg;
  if (start.starts_with("\x89PNG\r\n\x1A\n"sv)) return decode_png;
  if (start.starts_with("BM"sv)) return decode_bmp;
  return is_pnm(start) ? decode_pnm : nullptr;
}

/// TGA has no signature but, in its later version, one at the end.
bool says_tga(const OpenFile& file, const std::string& path, std::string_view start) {
  if (!is_tga(start)) return false;
  if (lower_extension(path) == ".tga") return true;
  constexpr auto kSignature = "TRUEVISION-XFILE.\0"sv;
  std::string end;
  if (file.bytes() > kSignature.size())
    read_part(file, path, file.bytes() - kSignature.size(), kSignature.size(), end);
  return end == kSignature;
}

bool is_webp(std::string_view start) {
  return start.starts_with("RIFF"sv) && start.substr(8).starts_with("WEBP"sv);
}

}  // namespace

std::unique_ptr<TiffFile> open_tiff(const std::string& path) {
  return tiff_module().open(path);
}

/// Brings the file into memory, but for TIFF, whose pages are read one by one.
PictureDecoder::Kind PictureDecoder::open(const std::string& path) {
  const OpenFile file(path);
  if (file.bytes() == 0) throw Error(ExitCode::BadData, "the file is empty");
  read_part(file, path, 0, kUnreadStart, bytes_);
  refuse_unread(path, bytes_);
  if (is_tiff(bytes_)) {
    tiff_ = open_tiff(path);
    return Kind::Tiff;
  }
  decode_ = decode_of(bytes_);
  if (decode_ == nullptr && says_tga(file, path, bytes_)) decode_ = decode_tga;
  const bool webp = is_webp(bytes_);
  if (decode_ == nullptr && !webp) return Kind::Other;
  if (file.bytes() > kMaxFileBytes)
    throw Error(ExitCode::BadData,
                fmt::format("it has {} bytes, allowed are {}", file.bytes(), kMaxFileBytes));
  read_part(file, path, 0, file.bytes(), bytes_);
  return webp ? Kind::WebP : Kind::InMemory;
}

void PictureDecoder::decode_page(const std::string& path, std::uint64_t max_pixels, int page, Picture& out) {
  // The pages of a file follow each other.
  const bool is_open = page > 0 && tiff_ && tiff_->path() == path;
  ExifOrientation orientation = ExifOrientation::Upright;
  switch (is_open ? Kind::Tiff : open(path)) {
    case Kind::InMemory:
      orientation = decode_(bytes_, max_pixels, out);
      break;
    case Kind::Tiff:
      tiff_->seek(page);
      orientation = tiff_->read_picture(max_pixels, out);
      break;
    case Kind::WebP:
      orientation = webp_orientation(bytes_);
      [[fallthrough]];
    case Kind::Other:
      if (!other_)
        throw Error(ExitCode::BadData,
                    "it is no JPEG, PNG, TIFF, BMP, TGA or PNM file, which this program decodes");
      other_(path, max_pixels, out);
      break;
  }
  turn_upright(out, orientation, scratch_);
}

bool PictureDecoder::decode(const std::string& path, std::uint64_t max_pixels, Picture& out,
                            std::string& error, int page) {
  try {
    decode_page(path, max_pixels, page, out);
    return true;
  } catch (const ModuleError&) {  // of this machine, not of the file
    throw;
  } catch (const Error& caught) {
    error = caught.what();
    if (error.find(path) == std::string::npos) error = fmt::format("{}: {}", path, error);
  }
  tiff_.reset();
  return false;
}

int PictureDecoder::pages(const std::string& path) {
  try {
    return open_tiff(path)->pages();
  } catch (const Error&) {
    return 1;  // said when it is decoded
  }
}

FrameDecoder frame_decoder(PictureDecoder::Other other) {
  return [other = std::move(other)](const std::string& path, std::uint64_t max_pixels, Picture& out,
                                    std::string& error) {
    static thread_local PictureDecoder decoder(other);
    return decoder.decode(path, max_pixels, out, error);
  };
}

}  // namespace contorno
