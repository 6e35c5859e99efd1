// Decodes picture files one after the other: JPEG, PNG and TIFF by their own libraries, BMP, TGA and PNM by
// hand, other formats by a function that is given for them. Pictures come upright. Used by one thread at a
// time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugins/files/pictures/picture.h"
#include "plugins/files/pictures/tiff.h"

namespace contorno {

class PictureDecoder {
 public:
  /// Decodes the other formats. Throws Error with the file's name.
  using Other = std::function<void(const std::string& path, std::uint64_t max_pixels, Picture& out)>;

  /// Decodes a whole file, as those of picture.h.
  using Decode = ExifOrientation (*)(std::string_view file, std::uint64_t max_pixels, Picture& out);

  explicit PictureDecoder(Other other = {}) : other_(std::move(other)) {}

  /// False with a sentence in `error` (which names the file) when `path` is not a whole picture in which its
  /// decoder finds no fault. Pictures of more than `max_pixels` are refused by their header, before memory is
  /// taken for them. `page` counts from 0. Memory of `out` is kept. Throws ModuleError where a module that
  /// the format needs is missing.
  bool decode(const std::string& path, std::uint64_t max_pixels, Picture& out, std::string& error,
              int page = 0);
  /// How many pages a TIFF file has; 1 for every other file, and for one that cannot be read.
  int pages(const std::string& path);

 private:
  enum class Kind : std::uint8_t { InMemory, Tiff, WebP, Other };
  Kind open(const std::string& path);
  void decode_page(const std::string& path, std::uint64_t max_pixels, int page, Picture& out);

  Other other_;
  std::string bytes_;               // the file, kept for its capacity
  Decode decode_ = nullptr;         // of a file in memory
  std::unique_ptr<TiffFile> tiff_;  // stays open from page to page
  std::vector<std::uint8_t> scratch_;
};

/// Decodes one picture file, as PictureDecoder::decode.
using FrameDecoder =
    std::function<bool(const std::string& path, std::uint64_t max_pixels, Picture& out, std::string& error)>;

/// A FrameDecoder that any thread may call: each thread has a PictureDecoder of its own, which has the
/// `other` of the first call in that thread.
FrameDecoder frame_decoder(PictureDecoder::Other other);

}  // namespace contorno
