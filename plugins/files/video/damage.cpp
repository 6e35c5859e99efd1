#include "plugins/files/video/damage.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "plugins/files/video/ebml_number.h"
#include "plugins/files/video/file_bytes.h"

namespace contorno {
namespace {
using namespace std::string_view_literals;

/// Matroska and WebM (RFC 9559): elements of an id and a size, some of which hold elements. Walks from header
/// to header down to the blocks; stops at the first that cannot be.
class Matroska {
 public:
  explicit Matroska(Bytes& bytes) : bytes_(bytes) { walk(0, bytes.size(), Level::File); }
  std::string damage() const {
    return broken_at_ < 0 ? "" : fmt::format("its structure is broken at byte {}", broken_at_);
  }

 private:
  enum class Level : std::uint8_t { File, Segment, Tracks, Track, Cluster, Group };
  static constexpr std::uint64_t kSegment = 0x8538067, kTracks = 0x654AE6B, kTrack = 0x2E,
                                 kTrackNumber = 0x57, kCluster = 0xF43B675, kGroup = 0x20, kBlock = 0x21,
                                 kSimpleBlock = 0x23;

  void walk(std::uint64_t at, std::uint64_t end, Level level) {
    while (at < end && broken_at_ < 0 && !ended_) {
      const std::string text = bytes_.read(at, 3 * kLongestEbmlNumber);
      const EbmlNumber id = ebml_number(text);
      const EbmlNumber size = ebml_number(std::string_view(text).substr(id.bytes));
      const std::uint64_t body = at + id.bytes + size.bytes;
      if (id.bytes == 0 || id.bytes > 4 || size.bytes == 0 || !belongs(id.value, level)) return broken(at);
      const bool open = size.unknown;
      // A recorder that could not go back leaves the sizes of what it was writing open.
      if (open && id.value != kSegment && id.value != kCluster) return broken(at);
      if (!open && (body > end || size.value > end - body)) {
        // The end of such a recording is wherever it was stopped.
        if (recording_ && end == bytes_.size()) return;
        return broken(at);
      }
      const std::uint64_t next = open ? end : body + size.value;
      visit(id.value, body, next, std::string_view(text).substr(id.bytes + size.bytes), open, level);
      at = open && id.value == kCluster ? body : next;
      if (open && id.value == kCluster) level = Level::Cluster;
    }
  }

  void visit(std::uint64_t id, std::uint64_t body, std::uint64_t end, std::string_view text, bool open,
             Level level) {
    recording_ = recording_ || open;
    if (level == Level::File && id == kSegment) {
      walk(body, end, Level::Segment);
      ended_ = true;  // something may have been appended
    } else if (id == kTracks && level == Level::Segment) {
      walk(body, end, Level::Tracks);
    } else if (id == kTrack && level == Level::Tracks) {
      walk(body, end, Level::Track);
    } else if (id == kTrackNumber && level == Level::Track) {
      tracks_.insert(
          bytes_.big_endian(body, static_cast<std::size_t>(std::min(end - body, std::uint64_t{8}))));
    } else if (id == kCluster && !open) {
      walk(body, end, Level::Cluster);
    } else if (id == kGroup && level == Level::Cluster) {
      walk(body, end, Level::Group);
    } else if ((id == kSimpleBlock && level == Level::Cluster) || (id == kBlock && level == Level::Group)) {
      const EbmlNumber track = ebml_number(text);
      if (track.bytes == 0 || (!tracks_.empty() && !tracks_.contains(track.value))) broken(body);
    }
  }

  /// Ids without the bit of their length. Elements that nobody knows may be anywhere but between clusters and
  /// between blocks, where recorders put nothing of their own.
  bool belongs(std::uint64_t id, Level level) const {
    constexpr std::array kOfSegment{std::uint64_t{0x14D9B74},
                                    std::uint64_t{0x549A966},
                                    kTracks,
                                    kCluster,
                                    std::uint64_t{0xC53BB6B},
                                    std::uint64_t{0x43A770},
                                    std::uint64_t{0x254C367},
                                    std::uint64_t{0x941A469},
                                    std::uint64_t{0x6C},
                                    std::uint64_t{0x3F}};
    constexpr std::array kOfCluster{std::uint64_t{0x67}, std::uint64_t{0x1854}, std::uint64_t{0x27},
                                    std::uint64_t{0x2B}, kSimpleBlock,          kGroup,
                                    std::uint64_t{0x2F}, std::uint64_t{0x6C},   std::uint64_t{0x3F}};
    const auto has = [&](const auto& ids) { return std::find(ids.begin(), ids.end(), id) != ids.end(); };
    if (level == Level::Segment) return has(kOfSegment);
    // A cluster without a size ends where something of the segment begins.
    if (level == Level::Cluster) return has(kOfCluster) || (recording_ && has(kOfSegment));
    return true;
  }

  void broken(std::uint64_t at) { broken_at_ = static_cast<std::int64_t>(at); }

  Bytes& bytes_;
  std::set<std::uint64_t> tracks_;
  bool recording_ = false, ended_ = false;
  std::int64_t broken_at_ = -1;
};

/// Ogg (RFC 3533): pages with a checksum and a number within their stream. Readers leave out a page whose
/// checksum is wrong.
class Ogg {
 public:
  explicit Ogg(Bytes& bytes) {
    for (std::uint64_t at = 0; at < bytes.size();) {
      const std::string page = bytes.read(at, kLongestPage);
      const std::size_t size = size_of(page);
      if (size > 0 && size <= page.size() && is_intact(page.substr(0, size))) {
        count(page);
        at += size;
      } else {
        if (lost_++ == 0) lost_at_ = at;
        at = next_page(bytes, at + 1);
      }
    }
  }
  std::string damage() const {
    if (lost_ > 0)
      return fmt::format("{} {} of it cannot be read, the first at byte {}", lost_,
                         lost_ == 1 ? "page" : "pages", lost_at_);
    return gap_ ? "pages of it are missing" : "";
  }

 private:
  static constexpr std::size_t kLongestPage = 65'307, kHeader = 27, kChecksumAt = 22;

  /// 0: there is no page.
  static std::size_t size_of(std::string_view page) {
    if (page.size() < kHeader || !page.starts_with("OggS")) return 0;
    const std::string_view lengths = page.substr(kHeader, static_cast<unsigned char>(page[kHeader - 1]));
    std::size_t size = kHeader + lengths.size();
    for (const char length : lengths) size += static_cast<unsigned char>(length);
    return size;
  }

  static std::uint32_t little_endian(std::string_view page, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(page[at + i]);
    return value;
  }

  static bool is_intact(std::string page) {
    static const std::array<std::uint32_t, 256> kTable = [] {
      constexpr std::uint32_t kPolynomial = 0x04C11DB7, kTopBit = 0x80000000;
      std::array<std::uint32_t, 256> table{};
      for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
        std::uint32_t rest = byte << 24;
        for (int bit = 0; bit < 8; ++bit) rest = rest << 1 ^ ((rest & kTopBit) != 0 ? kPolynomial : 0);
        table[byte] = rest;
      }
      return table;
    }();
    const std::uint32_t told = little_endian(page, kChecksumAt);
    std::fill_n(page.begin() + kChecksumAt, 4, '\0');
    std::uint32_t rest = 0;
    for (const char byte : page) rest = rest << 8 ^ kTable[rest >> 24 ^ static_cast<unsigned char>(byte)];
    return rest == told;
  }

  void count(std::string_view page) {
    constexpr std::size_t kStreamAt = 14, kNumberAt = 18;
    const std::uint32_t number = little_endian(page, kNumberAt);
    const auto [last, first] = numbers_.try_emplace(little_endian(page, kStreamAt), number);
    gap_ = gap_ || (!first && number != last->second + 1);
    last->second = number;
  }

  static std::uint64_t next_page(Bytes& bytes, std::uint64_t at) {
    for (; at < bytes.size(); at += kLongestPage - 3) {  // the mark may lie across two pieces
      const auto found = bytes.read(at, kLongestPage).find("OggS"sv);
      if (found != std::string::npos) return at + found;
    }
    return bytes.size();
  }

  std::map<std::uint32_t, std::uint32_t> numbers_;  // the last page of each stream
  std::int64_t lost_ = 0;
  std::uint64_t lost_at_ = 0;
  bool gap_ = false;
};

/// AVI: chunks of a type and a size, lists hold chunks. Readers go where the index leads, and leave out what
/// it does not name; this finds the pictures without it.
class AviDamage {
 public:
  explicit AviDamage(Bytes& bytes) : bytes_(bytes) {
    for (std::uint64_t at = 0; broken_at_ < 0 && bytes.read(at, 4) == "RIFF";)
      at = walk_list(at, bytes.size(), Level::File);
  }
  std::string damage(std::int64_t found) const {
    if (broken_at_ >= 0) return fmt::format("its structure is broken at byte {}", broken_at_);
    return found >= 0 && found < pictures_
               ? fmt::format("its index leads to {} of its {} pictures", found, pictures_)
               : "";
  }

 private:
  enum class Level : std::uint8_t { File, Riff, Header, Stream, Movie };
  static constexpr std::uint64_t kHeader = 8, kListHeader = 12;

  /// A list at `at`; returns where the next chunk is.
  std::uint64_t walk_list(std::uint64_t at, std::uint64_t end, Level outer) {
    const std::uint64_t size = bytes_.little_endian(at + 4, 4), body = at + kHeader;
    if (size < 4 || size > end - body) return broken(at);
    const std::string type = bytes_.read(body, 4);
    Level level = outer;
    if (outer == Level::File) level = Level::Riff;
    if (outer == Level::Riff && type == "hdrl") level = Level::Header;
    if (outer == Level::Header && type == "strl") level = Level::Stream;
    if (outer == Level::Riff && type == "movi") level = Level::Movie;
    if (level != outer || level == Level::Movie) walk(at + kListHeader, body + size, level);
    return body + size + (size & 1);
  }

  void walk(std::uint64_t at, std::uint64_t end, Level level) {
    while (at + kHeader <= end && broken_at_ < 0) {
      const std::string type = bytes_.read(at, 4);
      if (type == "LIST") {
        at = walk_list(at, end, level);
        continue;
      }
      const std::uint64_t size = bytes_.little_endian(at + 4, 4), body = at + kHeader;
      if (size > end - body || (level == Level::Movie && !belongs_to_movie(type))) {
        broken(at);
        return;
      }
      if (type == "strh" && level == Level::Stream) {
        if (video_.empty() && bytes_.read(body, 4) == "vids") video_ = fmt::format("{:02}d", streams_);
        ++streams_;
      }
      // Frames that repeat the one before are empty.
      if (level == Level::Movie && size > 0 && !video_.empty() && type.starts_with(video_)) ++pictures_;
      at = body + size + (size & 1);
    }
  }

  static bool belongs_to_movie(std::string_view type) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    return (is_digit(type[0]) && is_digit(type[1])) || type.starts_with("ix") || type == "JUNK" ||
           type == "idx1";
  }

  std::uint64_t broken(std::uint64_t at) {
    broken_at_ = static_cast<std::int64_t>(at);
    return bytes_.size();
  }

  Bytes& bytes_;
  int streams_ = 0;
  std::string video_;  // how the types of its chunks begin: "00d", of "00db" and "00dc"
  std::int64_t pictures_ = 0, broken_at_ = -1;
};

}  // namespace

std::string container_damage(const std::string& path, ContainerKind kind, std::int64_t found) {
  Bytes bytes(path);
  switch (kind) {
    case ContainerKind::Matroska:
      return Matroska(bytes).damage();
    case ContainerKind::Ogg:
      return Ogg(bytes).damage();
    case ContainerKind::Avi:
      return AviDamage(bytes).damage(found);
    default:
      return {};
  }
}

}  // namespace contorno
