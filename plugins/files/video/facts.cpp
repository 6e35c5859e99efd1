#include "plugins/files/video/facts.h"

#include <algorithm>
#include <string_view>

#include "plugins/files/video/ebml_number.h"
#include "plugins/files/video/file_bytes.h"
#include "plugins/files/video/gif_facts.h"
#include "plugins/files/video/mp4_facts.h"

namespace contorno {
namespace {
using namespace std::string_view_literals;

/// AVI: chunks of a type and a size, lists hold chunks. Files over 1 GiB have several RIFF chunks.
class AviFacts {
 public:
  explicit AviFacts(Bytes& bytes) : bytes_(bytes) {
    for (std::uint64_t at = 0; at + kHeader <= bytes.size();) {
      if (bytes_.read(at, 4) != "RIFF") break;  // something was appended
      const std::uint64_t size = bytes_.little_endian(at + 4, 4);
      // A file that was never finished has no size.
      if (size == 0 || size > bytes.size() - at - kHeader) cut_off_ = true;
      if (at == 0) walk(kHeader + 4, std::min(bytes.size(), kHeader + size), 0);
      if (cut_off_) break;
      at += kHeader + size + (size & 1);
    }
  }
  ContainerFacts facts() const {
    return {.kind = ContainerKind::Avi, .cut_off = cut_off_, .frames = frames_};
  }

 private:
  static constexpr std::uint64_t kHeader = 8;

  void walk(std::uint64_t at, std::uint64_t end, int depth) {
    constexpr int kDeepest = 3;
    while (at + kHeader <= end && frames_ < 0) {
      const std::string type = bytes_.read(at, 4);
      const std::uint64_t size = bytes_.little_endian(at + 4, 4);
      const std::uint64_t body = at + kHeader;
      if (type == "LIST") {
        const std::string list = bytes_.read(body, 4);
        if (list == "movi") return;
        if (depth < kDeepest) walk(body + 4, std::min(end, body + size), depth + 1);
      } else if (type == "strh" && bytes_.read(body, 4) == "vids") {
        constexpr std::uint64_t kLengthAt = 32;
        frames_ = static_cast<std::int64_t>(bytes_.little_endian(body + kLengthAt, 4));
      }
      at = body + size + (size & 1);
    }
  }

  Bytes& bytes_;
  bool cut_off_ = false;
  std::int64_t frames_ = -1;
};

/// Matroska and WebM: after the EBML header one segment, which may be without a stated size.
ContainerFacts matroska(Bytes& bytes) {
  ContainerFacts facts{.kind = ContainerKind::Matroska};
  constexpr std::uint64_t kIdBytes = 4;
  const EbmlNumber header = ebml_number(bytes.read(kIdBytes, kLongestEbmlNumber));
  std::uint64_t at = kIdBytes + header.bytes + header.value;
  constexpr std::uint64_t kSegment = 0x18538067;
  if (header.unknown || bytes.big_endian(at, kIdBytes) != kSegment) return facts;
  const EbmlNumber segment = ebml_number(bytes.read(at + kIdBytes, kLongestEbmlNumber));
  at += kIdBytes + segment.bytes;
  facts.cut_off = !segment.unknown && (at > bytes.size() || segment.value > bytes.size() - at);
  return facts;
}

/// Ogg: the last page has to end where the file does.
ContainerFacts ogg(Bytes& bytes) {
  constexpr std::size_t kLongestPage = 65'307, kHeader = 27;
  const std::string tail =
      bytes.read(bytes.size() - std::min<std::uint64_t>(bytes.size(), kLongestPage), kLongestPage);
  for (auto at = tail.rfind("OggS"sv); at != std::string::npos;
       at = at > 0 ? tail.rfind("OggS"sv, at - 1) : at) {
    if (at + kHeader <= tail.size()) {
      const auto segments = static_cast<unsigned char>(tail[at + kHeader - 1]);
      std::size_t end = at + kHeader + segments;
      for (std::size_t i = at + kHeader; i < std::min(tail.size(), at + kHeader + segments); ++i)
        end += static_cast<unsigned char>(tail[i]);
      if (end == tail.size()) return {.kind = ContainerKind::Ogg};
    }
    if (at == 0) break;
  }
  return {.kind = ContainerKind::Ogg, .cut_off = true};
}

ContainerFacts transport_stream(std::uint64_t size) {
  constexpr std::uint64_t kPacket = 188;
  return {.kind = ContainerKind::TransportStream, .cut_off = size % kPacket != 0};
}

}  // namespace

ContainerFacts container_facts(const std::string& path) {
  Bytes bytes(path);
  constexpr std::size_t kTypeBytes = 12;
  constexpr std::uint64_t kPacket = 188;
  const std::string head = bytes.read(0, kTypeBytes);
  if (head.size() < kTypeBytes) return {};
  const std::string_view start = head;
  const std::string_view box = start.substr(4, 4);
  if (box == "ftyp" || box == "moov" || box == "mdat" || box == "wide") return mp4_facts(bytes);
  if (start.starts_with("RIFF") && start.ends_with("AVI ")) return AviFacts(bytes).facts();
  if (start.starts_with("\x1A\x45\xDF\xA3"sv)) return matroska(bytes);
  if (start.starts_with("OggS")) return ogg(bytes);
  if (start.starts_with("GIF8")) return gif_facts(bytes);
  if (head[0] == 'G' && bytes.read(kPacket, 1) == "G" && bytes.read(2 * kPacket, 1) == "G")
    return transport_stream(bytes.size());
  return {};
}

}  // namespace contorno
