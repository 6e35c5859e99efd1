// Planes that lie behind the only directory of a file, without directories of their own: so ImageJ writes
// more than 4 GB, and tifffile what is not to be cut into pages. How many there are, the description says.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/files/tiff/reader.h"

namespace contorno::tiff {
namespace {

/// "images=5" in a line of what ImageJ writes; 1 where there is no such line.
std::uint64_t planes_of_imagej(std::string_view description) {
  constexpr std::string_view kLine = "\nimages=";
  const std::size_t at = description.find(kLine);
  std::uint64_t count = 1;
  if (at != std::string_view::npos)
    std::from_chars(description.data() + at + kLine.size(), description.data() + description.size(), count);
  return count;
}

/// The number of planes in a description that tifffile writes, {"shape": [5, 40, 50], "truncated": true}; 1
/// for any other description.
std::uint64_t planes_of_tifffile(std::string_view description, std::uint64_t samples_per_plane) {
  const auto json = nlohmann::json::parse(description, nullptr, false);
  if (!json.is_object() || json.value("truncated", nlohmann::json()) != true) return 1;
  const auto shape = json.find("shape");
  if (shape == json.end() || !shape->is_array() || samples_per_plane == 0) return 1;
  std::uint64_t samples = 1;
  for (const auto& side : *shape)
    if (!side.is_number_unsigned() || __builtin_mul_overflow(samples, side.get<std::uint64_t>(), &samples))
      return 1;
  return samples % samples_per_plane == 0 ? samples / samples_per_plane : 1;
}

}  // namespace

/// How many planes there are, at least 1. A description that outlived its stack, as in a copy of one page,
/// tells of more: what counts is that the bytes for at least two are there.
int TiffReader::count_planes() {
  TIFF* file = file_.get();
  const char* text = nullptr;
  if (TIFFGetField(file, TIFFTAG_IMAGEDESCRIPTION, &text) == 0 || text == nullptr) return 1;
  if (short_tag(file, TIFFTAG_COMPRESSION) != COMPRESSION_NONE || TIFFIsTiled(file) != 0) return 1;
  const std::string_view description(text);
  const std::uint64_t samples = std::uint64_t{long_tag(file, TIFFTAG_IMAGEWIDTH)} *
                                long_tag(file, TIFFTAG_IMAGELENGTH) *
                                short_tag(file, TIFFTAG_SAMPLESPERPIXEL);
  const std::uint64_t told = description.starts_with("ImageJ=") ? planes_of_imagej(description)
                             : description.starts_with("{")     ? planes_of_tifffile(description, samples)
                                                                : 1;
  const std::uint64_t bytes = samples * short_tag(file, TIFFTAG_BITSPERSAMPLE) / 8;
  const std::uint64_t begin = TIFFGetStrileOffset(file, 0);
  if (told <= 1 || bytes == 0 || begin >= file_bytes_) return 1;
  for (std::uint32_t strip = 1; strip < TIFFNumberOfStrips(file); ++strip)
    if (TIFFGetStrileOffset(file, strip) !=
        TIFFGetStrileOffset(file, strip - 1) + TIFFGetStrileByteCount(file, strip - 1))
      return 1;
  const std::uint64_t room = (file_bytes_ - begin) / bytes;
  if (room <= 1) return 1;
  if (room < told)
    damaged(fmt::format("its description tells of {} planes, there are bytes of {}", told, room));
  if (told > static_cast<std::uint64_t>(kMaxPages))
    damaged(fmt::format("it has {} planes, allowed are {}", told, kMaxPages));
  return static_cast<int>(told);
}

void TiffReader::read_plane(std::span<std::byte> samples) {
  const bool apart = are_bands_apart();
  if (apart) block_.resize(samples.size());
  const std::span<std::byte> stored = apart ? std::span(block_) : samples;
  const std::uint64_t at =
      TIFFGetStrileOffset(file_.get(), 0) + static_cast<std::uint64_t>(plane_) * stored.size();
  for (std::size_t done = 0; done < stored.size();) {
    const ssize_t got = ::pread(TIFFFileno(file_.get()), stored.data() + done, stored.size() - done,
                                static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw read_error(path_, errno);
    if (got == 0) damaged("it became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
  const std::size_t size = static_cast<std::size_t>(sample_kind().bits) / 8;
  if (TIFFIsByteSwapped(file_.get()) != 0)
    for (std::size_t sample = 0; sample < stored.size(); sample += size)
      std::reverse(stored.data() + sample, stored.data() + sample + size);
  if (!apart) return;
  const std::size_t bands = short_tag(file_.get(), TIFFTAG_SAMPLESPERPIXEL),
                    pixels = samples.size() / size / bands;
  for (std::size_t band = 0; band < bands; ++band)
    for (std::size_t pixel = 0; pixel < pixels; ++pixel)
      std::memcpy(samples.data() + (pixel * bands + band) * size,
                  stored.data() + (band * pixels + pixel) * size, size);
}

}  // namespace contorno::tiff
