#include "plugins/files/arrays/npz.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace contorno {
namespace {

constexpr std::uint64_t kMaxMembers = 65536;
constexpr std::size_t kShownMembers = 8;
constexpr std::uint64_t kMostDeflated = 1032;  // bytes that one byte of deflate can become

/// A name that would leave the folder it is unpacked into; who writes that means harm.
bool climbs(std::string_view name) {
  return name.starts_with('/') || name == ".." || name.starts_with("../") || name.ends_with("/..") ||
         name.find("/../") != std::string_view::npos;
}

}  // namespace

/// The bytes of a member, stored or deflated, in pieces. What they become is counted and summed up, and
/// compared at their end with what the directory says. Throws ZipError.
class NpzMember::Unpacker {
 public:
  Unpacker(int descriptor, const ZipMember& member, std::uint64_t offset)
      : descriptor_(descriptor),
        offset_(offset),
        packed_left_(member.packed_bytes),
        left_(member.bytes),
        checksum_(member.checksum),
        deflated_(member.method == kZipDeflated) {
    if (deflated_ && inflateInit2(&stream_, -MAX_WBITS) != Z_OK) throw ZipError("zlib could not be started");
  }
  ~Unpacker() {
    if (deflated_) inflateEnd(&stream_);
  }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  /// Fills `bytes` as far as there are some; returns how many. 0 is the end.
  std::size_t read(std::span<std::byte> bytes) {
    const std::size_t count = deflated_ ? inflate_some(bytes) : copy_some(bytes);
    sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(bytes.data()), count);
    if (count > left_) throw ZipError("the archive's member is longer than it says");
    left_ -= count;
    if (count > 0 || bytes.empty()) return count;
    if (left_ > 0) throw ZipError("the archive ends within the array");
    if (sum_ != checksum_) throw ZipError("the archive is damaged: the checksum differs");
    return 0;
  }

 private:
  std::size_t copy_some(std::span<std::byte> bytes) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), packed_left_));
    take(bytes.first(count));
    return count;
  }
  std::size_t inflate_some(std::span<std::byte> bytes) {
    const std::size_t wanted = std::min<std::size_t>(bytes.size(), std::numeric_limits<uInt>::max());
    stream_.next_out = reinterpret_cast<Bytef*>(bytes.data());
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out > 0 && !ended_) {
      if (stream_.avail_in == 0) refill();
      const int code = inflate(&stream_, Z_NO_FLUSH);
      ended_ = code == Z_STREAM_END;
      if (code == Z_BUF_ERROR) throw ZipError("the archive ends within the array");
      if (code != Z_OK && !ended_)
        throw ZipError(fmt::format("the archive is damaged: {}", stream_.msg ? stream_.msg : zError(code)));
    }
    return wanted - stream_.avail_out;
  }
  void refill() {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(packed_.size(), packed_left_));
    take(std::span(packed_).first(count));
    stream_.next_in = reinterpret_cast<Bytef*>(packed_.data());
    stream_.avail_in = static_cast<uInt>(count);
  }
  void take(std::span<std::byte> bytes) {
    read_zip_bytes(descriptor_, offset_, bytes);
    offset_ += bytes.size();
    packed_left_ -= bytes.size();
  }

  int descriptor_;
  std::uint64_t offset_, packed_left_, left_;
  uLong sum_ = 0, checksum_;
  bool deflated_, ended_ = false;
  z_stream stream_{};
  std::array<std::byte, 65536> packed_{};
};

void NpzMember::Discard::operator()(Unpacker* unpacker) const {
  delete unpacker;
}

void NpzMember::damaged(const std::string& why) const {
  throw Error(ExitCode::BadData, fmt::format("'{}' is not a readable archive of arrays: {}", name_, why));
}

/// The member that is meant. Archives with a name twice, or with names that climb out of a folder, are
/// refused as a whole.
const ZipMember& NpzMember::choose(const std::vector<ZipMember>& members, const std::string& member) const {
  std::vector<std::pair<std::string, std::size_t>> arrays, all;
  for (std::size_t index = 0; index < members.size(); ++index) {
    const std::string& name = members[index].name;
    if (climbs(name)) damaged(fmt::format("its member '{}' points out of the archive", name));
    all.emplace_back(name, index);
    if (name.ends_with(".npy")) arrays.push_back(all.back());
  }
  std::sort(all.begin(), all.end());
  const auto twice = std::adjacent_find(all.begin(), all.end(),
                                        [](const auto& a, const auto& b) { return a.first == b.first; });
  if (twice != all.end()) damaged(fmt::format("it has the member '{}' twice", twice->first));
  if (member.empty() && arrays.size() == 1) return members[arrays[0].second];
  for (const auto& [name, index] : arrays)
    if (!member.empty() && (name == member || name == member + ".npy")) return members[index];
  if (arrays.empty()) damaged("it has no member *.npy");
  std::vector<std::string> names;
  for (const auto& [name, index] : arrays) names.push_back(name.substr(0, name.size() - 4));
  const std::size_t more = names.size() > kShownMembers ? names.size() - kShownMembers : 0;
  names.resize(names.size() - more);
  throw Error(ExitCode::BadData,
              fmt::format("the archive '{}' has the arrays {}{}{}; name one: {}:{}", path_,
                          fmt::join(names, ", "), more == 0 ? "" : fmt::format(" and {} more", more),
                          member.empty() ? "" : fmt::format(", and none that is called '{}'", member), path_,
                          names.front()));
}

void NpzMember::check_sizes(const ZipMember& member) const {
  if (member.encrypted) damaged("the archive's member is encrypted");
  if (member.method != kZipStored && member.method != kZipDeflated)
    damaged(
        fmt::format("compression method {} of the archive, allowed are what NumPy writes", member.method));
  const bool possible = member.method == kZipStored ? member.bytes == member.packed_bytes
                                                    : member.bytes / kMostDeflated <= member.packed_bytes;
  if (member.packed_bytes > file_.bytes() || !possible)
    damaged(fmt::format("the archive says that {} bytes become {}", member.packed_bytes, member.bytes));
}

const NpyHeader& NpzMember::open(const std::string& path, const std::string& member, Numbers numbers) {
  close();
  path_ = name_ = path;
  file_ = OpenFile(path);
  std::uint64_t bytes = 0;
  try {
    const auto members = read_zip_directory(file_.descriptor(), file_.bytes(), kMaxMembers);
    const ZipMember& chosen = choose(members, member);
    name_ = fmt::format("{}:{}", path, chosen.name);
    check_sizes(chosen);
    const std::uint64_t offset = zip_data_offset(file_.descriptor(), file_.bytes(), chosen);
    unpacker_.reset(new Unpacker(file_.descriptor(), chosen, offset));
    bytes = chosen.bytes;
  } catch (const ZipError& error) {
    damaged(error.what());
  }
  start_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(kNpyStartBytes, bytes)));
  if (read_some(std::as_writable_bytes(std::span(start_))) != start_.size())
    damaged("the archive ends within the array");
  header_ = parse_npy_header({start_.data(), start_.size()}, bytes, name_, numbers);
  if (header_.surplus > 0)
    damaged(
        fmt::format("the archive has {} bytes behind the {} samples", header_.surplus, describe(header_)));
  return header_;
}

std::size_t NpzMember::read_some(std::span<std::byte> bytes) {
  std::size_t done = 0;
  try {
    while (done < bytes.size()) {
      const std::size_t got = unpacker_->read(bytes.subspan(done));
      if (got == 0) break;
      done += got;
    }
  } catch (const ZipError& error) {
    damaged(error.what());
  }
  return done;
}

void NpzMember::read_samples(std::span<std::byte> samples) {
  const std::size_t known = start_.size() - header_.offset;
  std::memcpy(samples.data(), start_.data() + header_.offset, std::min(known, samples.size()));
  if (known < samples.size() && read_some(samples.subspan(known)) != samples.size() - known)
    damaged("the archive ends within the array");
  std::byte behind{};  // the checksum is compared at the end
  if (read_some({&behind, 1}) != 0) damaged("the archive's member is longer than it says");
  close();
}

void NpzMember::close() {
  unpacker_.reset();
  file_.close();
}

}  // namespace contorno
