#include "plugins/files/arrays/zip_directory.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>

namespace contorno {
namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50, kDirectoryHeader = 0x02014b50, kDirectoryEnd = 0x06054b50,
                        kDirectoryEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr std::size_t kLocalHeaderBytes = 30, kDirectoryHeaderBytes = 46, kDirectoryEndBytes = 22,
                      kDirectoryEnd64Bytes = 56, kLocator64Bytes = 20;
constexpr std::size_t kMostComment = 65535;
constexpr std::uint64_t kMostDirectory = std::uint64_t{64} << 20U;  // bytes; a member takes some 100
constexpr std::uint16_t kExtra64 = 1, kEncryptedFlag = 1;
constexpr std::uint32_t kIn64Bits = 0xFFFFFFFF;  // the number stands in the extra field

/// Little-endian numbers and text, one behind the other. Throws ZipError at the end of the bytes.
class ZipFields {
 public:
  explicit ZipFields(std::span<const std::byte> bytes) : rest_(bytes) {}

  std::span<const std::byte> take(std::size_t count) {
    if (count > rest_.size()) throw ZipError("its directory is damaged");
    const auto taken = rest_.first(count);
    rest_ = rest_.subspan(count);
    return taken;
  }
  void skip(std::size_t count) { take(count); }
  std::uint16_t u16() { return static_cast<std::uint16_t>(number(2)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(number(4)); }
  std::uint64_t u64() { return number(8); }
  std::size_t left() const { return rest_.size(); }

 private:
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    const auto taken = take(count);
    for (std::size_t i = count; i-- > 0;) value = value << 8U | std::to_integer<std::uint64_t>(taken[i]);
    return value;
  }
  std::span<const std::byte> rest_;
};

struct DirectoryPlace {
  std::uint64_t members = 0, bytes = 0, offset = 0;
};

/// Where the record lies that ends the directory: the last one whose comment reaches to the end of the file.
std::uint64_t find_end_record(int descriptor, std::uint64_t file_bytes) {
  if (file_bytes < kDirectoryEndBytes) throw ZipError("it is no ZIP file");
  std::vector<std::byte> tail(std::min<std::uint64_t>(file_bytes, kDirectoryEndBytes + kMostComment));
  const std::uint64_t begin = file_bytes - tail.size();
  read_zip_bytes(descriptor, begin, tail);
  for (std::size_t at = tail.size() - kDirectoryEndBytes + 1; at-- > 0;) {
    ZipFields fields({tail.data() + at, tail.size() - at});
    if (fields.u32() != kDirectoryEnd) continue;
    fields.skip(16);
    if (fields.u16() == fields.left()) return begin + at;
  }
  throw ZipError("it is no ZIP file, or cut off");
}

/// Reads the end record of an archive with 64-bit numbers, which a locator just before the short record
/// finds. False where there is none.
bool read_end_record_64(int descriptor, std::uint64_t end, DirectoryPlace& place) {
  if (end < kLocator64Bytes + kDirectoryEnd64Bytes) return false;
  std::byte locator[kLocator64Bytes];
  read_zip_bytes(descriptor, end - kLocator64Bytes, locator);
  ZipFields fields(locator);
  if (fields.u32() != kLocator64) return false;
  fields.skip(4);  // the disk that has the record
  const std::uint64_t offset = fields.u64();
  if (offset > end - kLocator64Bytes - kDirectoryEnd64Bytes) throw ZipError("its directory is damaged");
  std::byte record[kDirectoryEnd64Bytes];
  read_zip_bytes(descriptor, offset, record);
  fields = ZipFields(record);
  if (fields.u32() != kDirectoryEnd64) throw ZipError("its directory is damaged");
  fields.skip(28);  // the record's size, versions, disks, members on this disk
  place.members = fields.u64();
  place.bytes = fields.u64();
  place.offset = fields.u64();
  return true;
}

DirectoryPlace find_directory(int descriptor, std::uint64_t file_bytes) {
  const std::uint64_t end = find_end_record(descriptor, file_bytes);
  std::byte record[kDirectoryEndBytes];
  read_zip_bytes(descriptor, end, record);
  ZipFields fields(record);
  fields.skip(4);
  const std::uint16_t disk = fields.u16(), first_disk = fields.u16();
  fields.skip(2);
  DirectoryPlace place;
  place.members = fields.u16();
  place.bytes = fields.u32();
  place.offset = fields.u32();
  if (!read_end_record_64(descriptor, end, place) && (disk != 0 || first_disk != 0))
    throw ZipError("it is one part of an archive in several");
  if (place.bytes > end || place.offset > end - place.bytes) throw ZipError("its directory is damaged");
  return place;
}

/// Replaces the numbers that do not fit into 32 bits by those of the extra field, which has them in this
/// order.
void read_extra_field(ZipFields extra, ZipMember& member) {
  while (extra.left() >= 4) {
    const std::uint16_t kind = extra.u16(), size = extra.u16();
    ZipFields field(extra.take(size));
    if (kind != kExtra64) continue;
    for (std::uint64_t* value : {&member.bytes, &member.packed_bytes, &member.header})
      if (*value == kIn64Bits) *value = field.u64();
    return;
  }
}

ZipMember read_member(ZipFields& directory) {
  if (directory.u32() != kDirectoryHeader) throw ZipError("its directory is damaged");
  ZipMember member;
  directory.skip(4);  // versions
  member.encrypted = (directory.u16() & kEncryptedFlag) != 0;
  member.method = directory.u16();
  directory.skip(4);  // date
  member.checksum = directory.u32();
  member.packed_bytes = directory.u32();
  member.bytes = directory.u32();
  const std::uint16_t name_bytes = directory.u16(), extra_bytes = directory.u16(),
                      comment_bytes = directory.u16();
  directory.skip(8);  // disk, attributes
  member.header = directory.u32();
  const auto name = directory.take(name_bytes);
  const std::string_view text(reinterpret_cast<const char*>(name.data()), name.size());
  member.name = text.substr(0, text.find('\0'));
  read_extra_field(ZipFields(directory.take(extra_bytes)), member);
  directory.skip(comment_bytes);
  return member;
}

}  // namespace

void read_zip_bytes(int descriptor, std::uint64_t offset, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::pread(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw ZipError(fmt::format("reading failed: {}", std::generic_category().message(errno)));
    if (got == 0) throw ZipError("it is cut off");
    offset += static_cast<std::uint64_t>(got);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

std::vector<ZipMember> read_zip_directory(int descriptor, std::uint64_t file_bytes,
                                          std::uint64_t most_members) {
  const DirectoryPlace place = find_directory(descriptor, file_bytes);
  if (place.members > most_members)
    throw ZipError(fmt::format("it has {} members, allowed are {}", place.members, most_members));
  if (place.bytes > kMostDirectory)
    throw ZipError(fmt::format("its directory has {} bytes, allowed are {}", place.bytes, kMostDirectory));
  std::vector<std::byte> bytes(place.bytes);
  read_zip_bytes(descriptor, place.offset, bytes);
  ZipFields directory(bytes);
  std::vector<ZipMember> members;
  members.reserve(std::min<std::size_t>(place.members, bytes.size() / kDirectoryHeaderBytes));
  for (std::uint64_t index = 0; index < place.members; ++index) members.push_back(read_member(directory));
  return members;
}

std::uint64_t zip_data_offset(int descriptor, std::uint64_t file_bytes, const ZipMember& member) {
  if (member.header > file_bytes || file_bytes - member.header < kLocalHeaderBytes)
    throw ZipError("its directory is damaged");
  std::byte header[kLocalHeaderBytes];
  read_zip_bytes(descriptor, member.header, header);
  ZipFields fields(header);
  if (fields.u32() != kLocalHeader) throw ZipError("its directory is damaged");
  fields.skip(22);
  const std::uint64_t name_bytes = fields.u16(), extra_bytes = fields.u16();
  const std::uint64_t offset = member.header + kLocalHeaderBytes + name_bytes + extra_bytes;
  if (offset > file_bytes || member.packed_bytes > file_bytes - offset) throw ZipError("it is cut off");
  return offset;
}

}  // namespace contorno
