// TiffReader, the TiffFile of this module: reader.cpp opens files and finds their pages, planes.cpp finds
// those that lie behind the only directory, samples.cpp reads samples, picture.cpp makes pictures of them.
#pragma once

#include <tiffio.h>

#include <cstdarg>
#include <memory>
#include <string>
#include <vector>

#include "plugins/files/pictures/tiff.h"

namespace contorno::tiff {

/// A tag's value, or the one that it has where it is left out.
std::uint16_t short_tag(TIFF* file, std::uint32_t tag);
std::uint32_t long_tag(TIFF* file, std::uint32_t tag);

/// The kind of a page's samples.
struct SampleKind {
  int bits = 0;
  std::uint16_t format = 0;  ///< SAMPLEFORMAT_UINT ...

  bool is_number() const { return format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID; }
};
/// "floating point of 32 bits", for messages.
std::string describe(const SampleKind& kind);

class TiffReader final : public TiffFile {
 public:
  explicit TiffReader(const std::string& path);
  const std::string& path() const override { return path_; }
  int pages() override;
  void seek(int page) override;
  ImageFormat format() override;
  void read_samples(std::span<std::byte> samples) override;
  ExifOrientation read_picture(std::uint64_t max_pixels, Picture& out) override;

 private:
  struct Close {
    void operator()(TIFF* file) const { TIFFClose(file); }
  };
  struct Complaint {
    std::string sentence;
    bool warnings_count = false;
  };
  /// A strip or a tile of one plane, and where its samples lie on the page.
  struct Block {
    std::uint32_t number = 0;
    int plane = 0;
    std::size_t x = 0, y = 0, width = 0, height = 0;  ///< part of the block that lies on the page, px
    std::size_t row_bytes = 0;                        ///< bytes from row to row of the decoded block
    std::size_t bytes = 0;                            ///< of the block, decoded
    bool is_short = false;                            ///< a strip of fewer rows than the others
  };
  static int on_error(TIFF* file, void* complaint, const char* module, const char* format, va_list list);
  static int on_warning(TIFF* file, void* complaint, const char* module, const char* format, va_list list);
  [[noreturn]] void damaged(const std::string& why) const;
  void find_pages();
  void go_to(tdir_t directory);
  SampleKind sample_kind() const;
  /// The samples that lie together: those of a pixel, or one where the bands lie apart.
  int channels_together() const;
  bool are_bands_apart() const;

  int count_planes();
  void read_plane(std::span<std::byte> samples);

  void check_blocks(std::uint64_t bytes);
  std::vector<Block> blocks(const ImageFormat& page) const;
  void read_block(const Block& block, std::span<std::byte> to);
  void check_whole_stream(const Block& block);

  bool is_plain_picture() const;
  void convert_picture(std::uint32_t width, std::uint32_t height, Picture& out);
  void let_library_convert(std::uint32_t width, std::uint32_t height, Picture& out);

  std::string path_;
  std::uint64_t file_bytes_ = 0;
  Complaint complaint_;
  std::unique_ptr<TIFF, Close> file_;
  std::vector<tdir_t> directories_;  ///< of the pages, in order; empty before they are looked for
  int planes_ = 1;                   ///< planes that lie one behind the other, where there is one directory
  int plane_ = 0;                    ///< which of them is read
  std::vector<std::uint32_t> raster_;
  std::vector<std::byte> block_, samples_;
};

}  // namespace contorno::tiff
