// The directory at the end of a ZIP file (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3), with the
// 64-bit fields that NumPy writes for large arrays. It is read without trust: every number is compared with
// the size of the file before it is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace contorno {

struct ZipMember {
  std::string name;  ///< as stored, up to its first zero byte
  std::uint16_t method = 0;
  bool encrypted = false;
  std::uint32_t checksum = 0;      ///< CRC-32 of the bytes that it becomes
  std::uint64_t packed_bytes = 0;  ///< in the file
  std::uint64_t bytes = 0;         ///< that it becomes
  std::uint64_t header = 0;        ///< where its local header begins
};

inline constexpr std::uint16_t kZipStored = 0, kZipDeflated = 8;

/// What is wrong with an archive, without its name.
struct ZipError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads `bytes` of the file from `offset` on, in full. Throws ZipError.
void read_zip_bytes(int descriptor, std::uint64_t offset, std::span<std::byte> bytes);

/// The members of the archive of `file_bytes` bytes, in the order of its directory. Throws ZipError, where
/// there are more than `most_members` as well.
std::vector<ZipMember> read_zip_directory(int descriptor, std::uint64_t file_bytes,
                                          std::uint64_t most_members);

/// Where the bytes of a member begin, behind its local header. Throws ZipError where they are not all in the
/// file.
std::uint64_t zip_data_offset(int descriptor, std::uint64_t file_bytes, const ZipMember& member);

}  // namespace contorno
