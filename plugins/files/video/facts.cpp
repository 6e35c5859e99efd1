#include "plugins/files/video/facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "plugins/files/video/ebml_number.h"
#include "plugins/files/video/file_bytes.h"

namespace contorno {
namespace {
using namespace std::string_view_literals;

/// ISO base media (mp4, mov), ISO/IEC 14496-12: boxes of a size and a type, some of which hold boxes.
class Mp4 {
 public:
  explicit Mp4(Bytes& bytes) : bytes_(bytes) { walk(0, bytes.size(), 0); }
  ContainerFacts facts() const {
    // An edit list may leave out the beginning or the end.
    const double shown = edited_ / std::max<double>(1, movie_scale_),
                 stored = stored_ / std::max<double>(1, scale_);
    const double frames = static_cast<double>(frames_);
    const bool trimmed = edited_ > 0 && shown * frames < stored * (frames - 0.5);
    return {.kind = ContainerKind::Mp4,
            .cut_off = cut_off_,
            .trimmed = trimmed,
            .frames = trimmed ? shown_frames() : frames_};
  }

 private:
  static constexpr std::int64_t kMostFrames = 10'000'000;

  void walk(std::uint64_t at, std::uint64_t end, int depth) {
    constexpr std::uint64_t kShort = 8, kLong = 16;
    while (at + kShort <= end) {
      const std::string type = bytes_.read(at + 4, 4);
      std::uint64_t size = bytes_.big_endian(at, 4), header = kShort;
      if (size == 1) size = bytes_.big_endian(at + kShort, 8), header = kLong;
      if (size == 0) {
        if (depth > 0 || type == "\0\0\0\0"sv) return;  // padding
        size = end - at;                                // a last box without a stated end
      }
      if (size < header) return;
      if (size > end - at) {
        cut_off_ = cut_off_ || (depth == 0 && is_of_file(type));
        size = end - at;
      }
      visit(type, at + header, at + size, depth);
      at += size;
    }
  }

  /// Whatever else stands there was appended by somebody.
  static bool is_of_file(std::string_view type) {
    constexpr std::array kTypes{"mdat"sv, "moov"sv, "moof"sv, "free"sv, "skip"sv, "mfra"sv,
                                "sidx"sv, "meta"sv, "styp"sv, "udta"sv, "uuid"sv};
    return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
  }

  void visit(std::string_view type, std::uint64_t at, std::uint64_t end, int depth) {
    constexpr int kDeepest = 8;
    if (type == "trak") video_ = false;
    constexpr std::array kHolders{"moov"sv, "trak"sv, "edts"sv, "mdia"sv,
                                  "minf"sv, "stbl"sv, "moof"sv, "traf"sv};
    if (std::find(kHolders.begin(), kHolders.end(), type) != kHolders.end()) {
      if (depth < kDeepest) walk(at, end, depth + 1);
      return;
    }
    const bool wide = bytes_.big_endian(at, 1) == 1;  // version 1: times of 64 bits
    if (type == "mvhd") {
      movie_scale_ = static_cast<double>(bytes_.big_endian(at + (wide ? 20 : 12), 4));
    } else if (type == "elst") {
      track_edited_ = sum_of_edits(at, wide);
    } else if (type == "mdhd") {
      track_scale_ = static_cast<double>(bytes_.big_endian(at + (wide ? 20 : 12), 4));
      track_stored_ = static_cast<double>(bytes_.big_endian(at + (wide ? 24 : 16), wide ? 8 : 4));
    } else if (type == "tkhd") {
      track_edited_ = 0, track_edits_ = 0;
      track_ = bytes_.big_endian(at + (wide ? 20 : 12), 4);
    } else if (type == "hdlr" && bytes_.read(at + 4, 4) != "dhlr") {  // not that of the data's place
      video_ = !video_track_ && bytes_.read(at + 8, 4) == "vide";
      if (!video_) return;
      video_track_ = track_, frames_ = 0;
      edited_ = track_edited_, scale_ = track_scale_, stored_ = track_stored_;
      edits_ = track_edits_, begin_ = track_begin_;
    } else if ((type == "stsz" || type == "stz2") && video_) {
      frames_ += static_cast<std::int64_t>(bytes_.big_endian(at + 8, 4));
    } else if (type == "stts" && video_) {
      durations_ = runs(at, end);
    } else if (type == "ctts" && video_) {
      offsets_ = runs(at, end);
    } else if (type == "tfhd") {
      video_ = video_track_ == bytes_.big_endian(at + 4, 4);
    } else if (type == "trun" && video_) {
      frames_ += static_cast<std::int64_t>(bytes_.big_endian(at + 4, 4));
    }
  }

  struct Run {
    std::int64_t count, value;
  };
  /// A table of values that hold for so many frames each; values are signed, as offsets may be.
  std::vector<Run> runs(std::uint64_t at, std::uint64_t end) {
    constexpr std::uint64_t kTable = 8, kEntry = 8;
    const std::uint64_t count =
        std::min({bytes_.big_endian(at + 4, 4), (end - at) / kEntry, std::uint64_t{kMostFrames}});
    std::vector<Run> all;
    const std::string table = bytes_.read(at + kTable, static_cast<std::size_t>(count * kEntry));
    for (std::size_t entry = 0; entry + kEntry <= table.size(); entry += kEntry) {
      const auto number = [&](std::size_t place) {
        std::uint32_t value = 0;
        for (std::size_t i = 0; i < 4; ++i)
          value = value << 8 | static_cast<unsigned char>(table[entry + place + i]);
        return value;
      };
      all.push_back({.count = number(0), .value = static_cast<std::int32_t>(number(4))});
    }
    return all;
  }

  /// Frames of which the one edit shows more than half; -1: nobody knows.
  std::int64_t shown_frames() const {
    if (edits_ != 1 || frames_ > kMostFrames) return -1;
    const double end = begin_ + edited_ / std::max<double>(1, movie_scale_) * scale_;
    std::int64_t shown = 0, frame = 0, decoded = 0, offsets_end = 0;
    auto offset = offsets_.begin();
    for (const Run& duration : durations_)
      for (std::int64_t i = 0; i < duration.count && frame < frames_; ++i, ++frame) {
        while (offset != offsets_.end() && offsets_end + offset->count <= frame)
          offsets_end += (offset++)->count;
        const std::int64_t time = decoded + (offset != offsets_.end() ? offset->value : 0);
        const double middle = static_cast<double>(time) + static_cast<double>(duration.value) / 2;
        if (middle > begin_ && middle < end) ++shown;
        decoded += duration.value;
      }
    return frame == frames_ ? shown : -1;
  }

  /// In the scale of the movie, without edits that show nothing.
  double sum_of_edits(std::uint64_t at, bool wide) {
    constexpr std::uint64_t kMostEdits = 1000;
    const std::uint64_t count = std::min(kMostEdits, bytes_.big_endian(at + 4, 4));
    const std::size_t number = wide ? 8 : 4;
    double sum = 0;
    for (std::uint64_t edit = 0; edit < count; ++edit) {
      const std::uint64_t entry = at + 8 + edit * (2 * number + 4);
      if (bytes_.big_endian(entry + number, 4) == 0xFFFFFFFF) continue;
      sum += static_cast<double>(bytes_.big_endian(entry, number));
      if (track_edits_++ == 0) track_begin_ = static_cast<double>(bytes_.big_endian(entry + number, number));
    }
    return sum;
  }

  Bytes& bytes_;
  double movie_scale_ = 0, edited_ = 0, scale_ = 0, stored_ = 0;
  double begin_ = 0;  // of what the edit list shows, in the scale of the track
  double track_edited_ = 0, track_scale_ = 0, track_stored_ = 0, track_begin_ = 0;  // of the one being read
  int edits_ = 0, track_edits_ = 0;                                                 // that show something
  std::vector<Run> durations_, offsets_;                                            // of frames, when stored
  bool cut_off_ = false, video_ = false;  // video_: the track that is being read is the first one of video
  std::uint64_t track_ = 0;
  std::optional<std::uint64_t> video_track_;
  std::int64_t frames_ = -1;
};

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

/// GIF89a: blocks up to a trailer; every image descriptor is a frame.
ContainerFacts gif(Bytes& bytes) {
  ContainerFacts facts{.kind = ContainerKind::Gif, .cut_off = true, .frames = 0};
  const auto table_bytes = [&](std::uint64_t flags_at) {
    const std::uint64_t flags = bytes.big_endian(flags_at, 1);
    return (flags & 0x80U) != 0 ? std::uint64_t{3} << ((flags & 7U) + 1) : 0;
  };
  constexpr std::uint64_t kScreen = 13, kDescriptor = 10, kTrailer = 0x3B, kExtension = 0x21, kImage = 0x2C;
  std::uint64_t at = kScreen + table_bytes(kScreen - 3);
  bool whole = true;
  while (whole && at < bytes.size()) {
    const std::uint64_t block = bytes.big_endian(at, 1);
    if (block == kTrailer) facts.cut_off = false;
    if (block != kExtension && block != kImage) break;
    at += block == kExtension ? 2 : kDescriptor + table_bytes(at + kDescriptor - 1) + 1;
    // Sub-blocks, up to an empty one.
    for (whole = false; !whole && at < bytes.size();) {
      const std::uint64_t size = bytes.big_endian(at, 1);
      at += 1 + size;
      whole = size == 0;
    }
    if (block == kImage && whole) ++facts.frames, facts.whole_bytes = at;
  }
  return facts;
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
  if (box == "ftyp" || box == "moov" || box == "mdat" || box == "wide") return Mp4(bytes).facts();
  if (start.starts_with("RIFF") && start.ends_with("AVI ")) return AviFacts(bytes).facts();
  if (start.starts_with("\x1A\x45\xDF\xA3"sv)) return matroska(bytes);
  if (start.starts_with("OggS")) return ogg(bytes);
  if (start.starts_with("GIF8")) return gif(bytes);
  if (head[0] == 'G' && bytes.read(kPacket, 1) == "G" && bytes.read(2 * kPacket, 1) == "G")
    return transport_stream(bytes.size());
  return {};
}

}  // namespace contorno
