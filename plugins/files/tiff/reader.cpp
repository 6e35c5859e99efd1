#include "plugins/files/tiff/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/error.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/files/tiff/parts.h"

namespace contorno::tiff {
namespace {

/// Whether the current directory is a smaller copy of another page (a thumbnail, a level of a pyramid) or a
/// mask that says which of its pixels count.
bool belongs_to_another(TIFF* file) {
  return (long_tag(file, TIFFTAG_SUBFILETYPE) & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)) != 0;
}

}  // namespace

std::uint16_t short_tag(TIFF* file, std::uint32_t tag) {
  std::uint16_t value = 0;
  TIFFGetFieldDefaulted(file, tag, &value);
  return value;
}
std::uint32_t long_tag(TIFF* file, std::uint32_t tag) {
  std::uint32_t value = 0;
  TIFFGetFieldDefaulted(file, tag, &value);
  return value;
}

std::string describe(const SampleKind& kind) {
  const char* what = kind.is_number()                            ? "unsigned integers"
                     : kind.format == SAMPLEFORMAT_INT           ? "signed integers"
                     : kind.format == SAMPLEFORMAT_IEEEFP        ? "floating point"
                     : kind.format <= SAMPLEFORMAT_COMPLEXIEEEFP ? "complex numbers"
                                                                 : "of an unknown kind";
  return fmt::format("{} of {} bits", what, kind.bits);
}

int TiffReader::on_error(TIFF*, void* complaint, const char*, const char* format, va_list list) {
  auto* self = static_cast<Complaint*>(complaint);
  char text[300];
  std::vsnprintf(text, sizeof(text), format, list);
  if (self->sentence.empty()) self->sentence = text;
  return 1;
}

int TiffReader::on_warning(TIFF* file, void* complaint, const char* module, const char* format,
                           va_list list) {
  // Directories are full of tags that libtiff does not know and that do not matter, and that a method is out
  // of fashion does not matter either.
  constexpr std::array<std::string_view, 3> kOfNoImport{"Old-style LZW codes",
                                                        "Deprecated and troublesome old-style JPEG",
                                                        "Defined set_field_type of custom tag"};
  const std::string_view text(format);
  const bool counts = static_cast<Complaint*>(complaint)->warnings_count &&
                      std::none_of(kOfNoImport.begin(), kOfNoImport.end(),
                                   [&](std::string_view begin) { return text.starts_with(begin); });
  return counts ? on_error(file, complaint, module, format, list) : 1;
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

/// Looks through the directories once. What belongs to another page is no page of its own; a file that has
/// nothing else is taken as it is.
void TiffReader::find_pages() {
  if (!directories_.empty()) return;
  TIFF* file = file_.get();
  if (TIFFSetDirectory(file, 0) == 0) damaged("it has no directory");
  std::vector<tdir_t> pages;
  int count = 0;
  do {
    if (count == kMaxPages) damaged(fmt::format("it has more than {} pages", kMaxPages));
    if (!belongs_to_another(file)) pages.push_back(static_cast<tdir_t>(count));
    ++count;
  } while (TIFFReadDirectory(file) != 0);
  if (!complaint_.sentence.empty()) damaged("");
  if (pages.empty())
    for (int page = 0; page < count; ++page) pages.push_back(static_cast<tdir_t>(page));
  go_to(pages.front());
  if (count == 1) planes_ = count_planes();
  directories_ = std::move(pages);
}

int TiffReader::pages() {
  find_pages();
  return planes_ > 1 ? planes_ : static_cast<int>(directories_.size());
}

void TiffReader::seek(int page) {
  if (page < 0 || page >= pages()) damaged(fmt::format("there is no page {}", page));
  plane_ = planes_ > 1 ? page : 0;
  if (planes_ == 1) go_to(directories_[static_cast<std::size_t>(page)]);
}

void TiffReader::go_to(tdir_t directory) {
  TIFF* file = file_.get();
  // One that follows is found without going through all that come before.
  int found = 1;
  if (TIFFCurrentDirectory(file) > directory) found = TIFFSetDirectory(file, directory);
  while (found != 0 && TIFFCurrentDirectory(file) < directory) found = TIFFReadDirectory(file);
  if (found == 0) damaged(fmt::format("there is no directory {}", directory));
}

SampleKind TiffReader::sample_kind() const {
  return {short_tag(file_.get(), TIFFTAG_BITSPERSAMPLE), short_tag(file_.get(), TIFFTAG_SAMPLEFORMAT)};
}

bool TiffReader::are_bands_apart() const {
  return short_tag(file_.get(), TIFFTAG_SAMPLESPERPIXEL) > 1 &&
         short_tag(file_.get(), TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
}

int TiffReader::channels_together() const {
  return are_bands_apart() ? 1 : short_tag(file_.get(), TIFFTAG_SAMPLESPERPIXEL);
}

ImageFormat TiffReader::format() {
  find_pages();
  TIFF* file = file_.get();
  const std::uint32_t width = long_tag(file, TIFFTAG_IMAGEWIDTH),
                      height = long_tag(file, TIFFTAG_IMAGELENGTH);
  if (width < 1 || height < 1 || width > kMaxSide || height > kMaxSide)
    damaged(fmt::format("a page is {}x{}, allowed are sides of 1 to {} px", width, height, kMaxSide));
  if (const std::uint32_t depth = long_tag(file, TIFFTAG_IMAGEDEPTH); depth > 1)
    damaged(fmt::format("a page is a volume of {} slices, allowed is a page a slice", depth));
  if (short_tag(file, TIFFTAG_COMPRESSION) == COMPRESSION_JPEG &&
      short_tag(file, TIFFTAG_PHOTOMETRIC) == PHOTOMETRIC_YCBCR)
    TIFFSetField(file, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);  // chroma may have fewer samples
  ImageFormat format{.width = static_cast<int>(width),
                     .height = static_cast<int>(height),
                     .channels = short_tag(file, TIFFTAG_SAMPLESPERPIXEL)};
  const SampleKind kind = sample_kind();
  const bool real = kind.format == SAMPLEFORMAT_IEEEFP;
  if (kind.is_number() && (kind.bits == 8 || kind.bits == 16))
    format.type = kind.bits == 8 ? ElementType::U8 : ElementType::U16;
  else if (real && (kind.bits == 16 || kind.bits == 32 || kind.bits == 64))
    format.type = kind.bits == 16 ? ElementType::F16 : kind.bits == 32 ? ElementType::F32 : ElementType::F64;
  else
    damaged(
        fmt::format("its samples are {}, allowed are unsigned integers of 8 or 16 bits and floating point "
                    "of 16, 32 or 64",
                    describe(kind)));
  check_blocks(format.row_bytes() * static_cast<std::uint64_t>(height));
  return format;
}

std::unique_ptr<TiffFile> open_file(const std::string& path) {
  return std::make_unique<TiffReader>(path);
}

}  // namespace contorno::tiff
