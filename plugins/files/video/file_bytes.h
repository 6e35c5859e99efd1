// Reads small pieces of a regular file at any offset, as the structure of video containers needs. The object
// owns the open file and belongs to one thread. A file that cannot be read is taken as one of 0 bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace contorno {

class Bytes {
 public:
  explicit Bytes(const std::string& path) : file_(path, std::ios::binary) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) size_ = std::filesystem::file_size(path, ignored);
    if (ignored) size_ = 0;
  }
  std::uint64_t size() const { return size_; }

  /// `count` bytes from `at`; fewer where the file ends.
  std::string read(std::uint64_t at, std::size_t count) {
    if (at >= size_) return {};
    std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(count, size_ - at)), '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(at));
    file_.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file_.gcount()));
    return bytes;
  }
  /// An unsigned number of `count` bytes; 0 where the file ends before.
  std::uint64_t big_endian(std::uint64_t at, std::size_t count) { return number(read(at, count), count); }
  std::uint64_t little_endian(std::uint64_t at, std::size_t count) {
    std::string bytes = read(at, count);
    std::reverse(bytes.begin(), bytes.end());
    return number(bytes, count);
  }

 private:
  static std::uint64_t number(std::string_view bytes, std::size_t count) {
    if (bytes.size() < count) return 0;
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }

  std::ifstream file_;
  std::uint64_t size_ = 0;
};

}  // namespace contorno
