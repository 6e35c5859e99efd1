// TIFF files by libtiff, which comes with the module tiff: each page as samples (arrays: one page a map) or
// as a picture. What the file says of its size is checked against its bytes before memory is taken. A file
// belongs to one thread; functions throw Error(MissingInput, BadData, Io) with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "pipeline/value/image.h"
#include "plugins/files/pictures/picture.h"

namespace contorno {

class TiffFile {
 public:
  static constexpr int kMaxPages = 65535;  // what libtiff numbers

  virtual ~TiffFile() = default;
  virtual const std::string& path() const = 0;

  /// How many pages there are, at least 1: directories that are no smaller copy (thumbnail, level of a
  /// pyramid) and no mask of another page, or the planes behind the only one. Goes through the file's
  /// directories, which must not form a loop.
  virtual int pages() = 0;
  /// Makes `page`, from 0, the one that the functions below read; at first it is page 0.
  virtual void seek(int page) = 0;

  /// The page as an array, with samples interleaved, however its bands are stored. Throws when they are of a
  /// type that images do not have.
  virtual ImageFormat format() = 0;
  /// Reads the page's samples as format() describes them, without gaps.
  virtual void read_samples(std::span<std::byte> samples) = 0;
  /// The page as a picture of 8 bits, whatever colours it has, as it is stored; returns how it has to be
  /// turned.
  virtual ExifOrientation read_picture(std::uint64_t max_pixels, Picture& out) = 0;
};

/// Throws ModuleError where the module is missing, before it looks at the file.
std::unique_ptr<TiffFile> open_tiff(const std::string& path);

}  // namespace contorno
