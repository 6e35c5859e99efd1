// NumPy .npy files, format 1.0, 2.0 and 3.0, read without trusting them: the header is parsed strictly (never
// evaluated), at most 64 KiB long, and the size that its shape asks for is checked against the file before
// anything is allocated. Samples: float16, float32, float64, uint8, uint16, bool, and where the caller takes
// any number all integers; big-endian files and Fortran order are converted. Everything else (objects,
// structures) is refused by name; archives of arrays are in npz.h. Functions throw Error(MissingInput) when
// there is no such file, Error(BadData) when it is not what it should be, Error(Io) when it cannot be read. A
// reader belongs to one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/value/image.h"
#include "plugins/files/shared/open_file.h"
#include "plugins/files/shared/output_file.h"

namespace contorno {

/// What samples may be: Maps: what a class map has; Any: integers of every size, too, which become float64.
enum class Numbers : std::uint8_t { Maps, Any };

/// Type, sides and place of the samples of a file. Bool samples have type U8 and `boolean` set.
struct NpyHeader {
  static constexpr int kMaxDimensions = 32;

  ElementType type = ElementType::U8;
  bool boolean = false;
  /// Bytes of the file's integers, which read_whole makes float64 (`type`); 0: samples of `type` are stored.
  std::uint8_t integer_bytes = 0;
  bool is_signed = false;  ///< whether the integers of integer_bytes have a sign
  bool big_endian = false;
  bool fortran = false;
  int dimensions = 0;  ///< at least 1
  std::array<std::uint64_t, kMaxDimensions> sides{};
  std::uint64_t elements = 0;  ///< product of the sides; may be 0
  std::uint64_t offset = 0;    ///< of the first sample in the file
  std::uint64_t surplus = 0;   ///< bytes behind the last sample, which nobody reads: see surplus_warning

  /// Bytes of a sample in the file.
  std::size_t sample_bytes() const { return integer_bytes > 0 ? integer_bytes : element_size(type); }
  std::span<const std::uint64_t> shape() const {
    return {sides.data(), static_cast<std::size_t>(dimensions)};
  }
};

/// "(3, 480, 640) float32", for messages.
std::string describe(const NpyHeader& header);

/// A sentence for the user when the file `name` is longer than its header says; empty when it is not.
std::string surplus_warning(const NpyHeader& header, std::string_view name);

inline constexpr std::size_t kNpyStartBytes = 12 + 65536;  ///< magic, version, length and the longest header
/// Parses the start of a file of `file_bytes` bytes: its first kNpyStartBytes, or all of a shorter file.
/// `name` is for messages.
NpyHeader parse_npy_header(std::string_view start, std::uint64_t file_bytes, std::string_view name,
                           Numbers numbers = Numbers::Maps);
NpyHeader read_npy_header(const std::filesystem::path& path);

/// An array in memory: C order, native byte order, whatever the file had. Bool samples are 0 or 1, and
/// integers that no map has are float64.
struct NpyArray {
  NpyHeader header;
  std::vector<std::byte> data;

  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(data.data()), data.size() / sizeof(T)};
  }
};

NpyArray read_npy(const std::filesystem::path& path);
class NpyReader;
/// All samples of the file that `reader` has open.
NpyArray read_whole(NpyReader& reader);

/// Writes C order, little endian, format 1.0; the file appears when it is complete. Throws
/// Error(CannotCreate, Io).
void write_npy(const std::filesystem::path& path, ElementType type, std::span<const std::uint64_t> shape,
               const void* data);
/// Writes the array into a file that is open, and completes it.
void write_npy(OutputFile& file, ElementType type, std::span<const std::uint64_t> shape, const void* data);

/// Reads files one after the other into memory that the caller has; buffers are kept, so that a sequence of
/// equal files allocates nothing after the first.
class NpyReader {
 public:
  NpyReader() = default;
  NpyReader(const NpyReader&) = delete;
  NpyReader& operator=(const NpyReader&) = delete;

  /// Opens a file and reads its header. A pipe, where `pipes` allows one, is read into memory to its end.
  const NpyHeader& open(const std::filesystem::path& path, Pipes pipes = Pipes::Refuse,
                        Numbers numbers = Numbers::Maps);
  /// Takes the place of open() for samples that are not in a file of their own: the caller writes them, as
  /// `header` describes them, into the memory that is returned. It is valid until the next open.
  std::span<std::byte> open_memory(std::string name, const NpyHeader& header);
  const NpyHeader& header() const { return header_; }
  /// Reads image `item` into `image`, whose format fixes the meaning: planar C x H x W, interleaved H x W x
  /// C, one channel also H x W. A 4-D array has one more side in front, the items. Bool becomes 0 or 255. The
  /// sides of format and file must agree.
  void read_image(std::uint64_t item, const ImageView& image);
  /// Reads all samples as stored in the file: no change of order, bool as it is.
  void read_raw(std::span<std::byte> bytes);
  void close() noexcept;
  const std::string& name() const { return name_; }

 private:
  void open_pipe(Numbers numbers);
  std::size_t read_pipe(std::byte* data, std::size_t bytes);
  void read_at(std::uint64_t offset, std::byte* data, std::size_t bytes);
  void read_rows(std::uint64_t offset, const ImageView& image);
  void read_fortran(const ImageView& image);

  std::string name_;
  OpenFile file_;
  bool in_memory_ = false;
  NpyHeader header_;
  std::vector<char> start_;
  std::vector<std::byte> memory_;   ///< all samples, where there is no file
  std::vector<std::byte> scratch_;  ///< a whole array in Fortran order
};

}  // namespace contorno
