// The directory at the end of a ZIP file (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3 and 4.5.3), with the
// 64-bit fields that NumPy writes for large arrays. It is read without trust. The numbers of the directory's
// place are checked with it; those of a member are as stored, until zip_data_offset has checked them and its
// caller the method, the encryption and how many bytes it becomes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace contorno {

struct ZipMember {
  std::string name;  ///< its bytes up to the first zero, as Python's zipfile reads it
  std::uint16_t method = 0;
  bool encrypted = false;
  std::uint32_t checksum = 0;      ///< CRC-32 of the unpacked bytes
  std::uint64_t packed_bytes = 0;  ///< packed, in the file
  std::uint64_t bytes = 0;         ///< unpacked
  std::uint64_t header = 0;        ///< where its local header begins
};

inline constexpr std::uint16_t kZipStored = 0, kZipDeflated = 8;

/// What is wrong with an archive. The text does not name the file: the caller does.
struct ZipError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Reads `bytes` of the file from `offset` on, in full. Throws ZipError.
void read_zip_bytes(int descriptor, std::uint64_t offset, std::span<std::byte> bytes);

/// The members of the archive of `file_bytes` bytes, in the order of its directory. Throws ZipError, also for
/// more than `most_members` members.
std::vector<ZipMember> read_zip_directory(int descriptor, std::uint64_t file_bytes,
                                          std::uint64_t most_members);

/// Where the bytes of a member begin, behind its local header. Throws ZipError where they are not all in the
/// file.
std::uint64_t zip_data_offset(int descriptor, std::uint64_t file_bytes, const ZipMember& member);

}  // namespace contorno
