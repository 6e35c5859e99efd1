// TIFF files by libtiff: each page as samples (arrays: one page a map) or as a picture. What the file says of
// its size is checked against its bytes before memory is taken. A file belongs to one thread; functions
// throw Error(MissingInput, BadData, Io) with the file's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "pipeline/value/image.h"
#include "plugins/files/pictures/picture.h"

struct tiff;

namespace contorno {

class TiffFile {
 public:
  static constexpr int kMaxPages = 65535;  // what libtiff numbers

  void open(const std::string& path);
  void close();
  bool is_open() const { return file_ != nullptr; }
  const std::string& path() const { return path_; }

  /// Counts by going through the file's directories, which must not form a loop. At least 1.
  int pages();
  void seek(int page);

  /// Of the page sought last: samples interleaved. Throws when they are no numbers that images have.
  ImageFormat format();
  /// Reads the page's samples, packed, as format() tells.
  void read_samples(std::span<std::byte> samples);
  /// The page as a picture, turned as it is stored: 8 bits, whatever colours it has.
  ExifOrientation read_picture(std::uint64_t max_pixels, Picture& out);

 private:
  struct Close {
    void operator()(tiff* file) const;
  };
  struct Complaint {
    std::string sentence;
    bool warnings_count = false;
  };
  static int on_error(tiff* file, void* complaint, const char* module, const char* format, va_list list);
  static int on_warning(tiff* file, void* complaint, const char* module, const char* format, va_list list);
  [[noreturn]] void damaged(const std::string& why) const;
  void check_room(std::uint64_t bytes);
  void read_strips(std::span<std::byte> samples, std::size_t row_bytes);
  void read_tiles(std::span<std::byte> samples, std::size_t row_bytes);

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  Complaint complaint_;
  std::unique_ptr<tiff, Close> file_;
  int pages_ = 0;
  std::vector<std::uint32_t> raster_;
  std::vector<std::byte> tile_;
};

}  // namespace contorno
