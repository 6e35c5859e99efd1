#include "plugins/files/video/mp4_facts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

namespace contorno {
namespace {
using namespace std::string_view_literals;

/// ISO base media (mp4, mov), ISO/IEC 14496-12: boxes of a size and a type, some of which hold boxes.
class Mp4 {
 public:
  explicit Mp4(Bytes& bytes) : bytes_(bytes) { walk(0, bytes.size(), 0); }
  ContainerFacts facts() const {
    // An edit list may leave out the beginning or the end.
    const std::int64_t shown = edited_ > 0 ? shown_frames() : frames_;
    const double length = edited_ / std::max<double>(1, movie_scale_),
                 stored = stored_ / std::max<double>(1, scale_);
    const auto frames = static_cast<double>(frames_);
    const bool trimmed =
        shown >= 0 ? shown < frames_ : edited_ > 0 && length * frames < stored * (frames - 0.5);
    ContainerFacts facts{.kind = ContainerKind::Mp4,
                         .cut_off = cut_off_,
                         .trimmed = trimmed,
                         .frames = trimmed ? shown : frames_,
                         .transversed = transversed_,
                         .palette = palette_};
    if (edited_ > 0 && shown > 0 && (trimmed || delay_ > 0)) facts.shown = shown_part();
    return facts;
  }

 private:
  /// Where a number stands in the file.
  struct Field {
    std::uint64_t at = 0;
    std::size_t bytes = 4;
    ShownPart::Patch written(double value) const {
      constexpr double kMost4 = 4294967294.0, kMost8 = 9e18;
      auto number = static_cast<std::uint64_t>(std::min(value, bytes == 8 ? kMost8 : kMost4));
      ShownPart::Patch patch{.at = at, .bytes = std::string(bytes, '\0')};
      for (auto byte = patch.bytes.rbegin(); byte != patch.bytes.rend(); ++byte, number >>= 8)
        *byte = static_cast<char>(number & 0xFFU);
      return patch;
    }
  };

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
      movie_length_ = length_field(at, wide);
      movie_scale_ = static_cast<double>(bytes_.big_endian(at + (wide ? 20 : 12), 4));
    } else if (type == "elst") {
      track_edited_ = sum_of_edits(at, wide);
      track_edits_at_ = at;
    } else if (type == "mdhd") {
      track_scale_ = static_cast<double>(bytes_.big_endian(at + (wide ? 20 : 12), 4));
      track_length_ = length_field(at, wide);
      track_stored_ = static_cast<double>(bytes_.big_endian(track_length_.at, track_length_.bytes));
    } else if (type == "tkhd") {
      track_edited_ = 0, track_edits_ = 0, track_delay_ = 0;
      track_ = bytes_.big_endian(at + (wide ? 20 : 12), 4);
      track_transversed_ = is_transversed(at + (wide ? 52 : 40));
    } else if (type == "hdlr" && bytes_.read(at + 4, 4) != "dhlr") {  // not that of the data's place
      video_ = !video_track_ && bytes_.read(at + 8, 4) == "vide";
      if (!video_) return;
      video_track_ = track_, frames_ = 0;
      transversed_ = track_transversed_;
      edited_ = track_edited_, scale_ = track_scale_, stored_ = track_stored_;
      edits_ = track_edits_, begin_ = track_begin_, delay_ = track_delay_;
      edits_at_ = track_edits_at_, length_ = track_length_;
    } else if ((type == "stsz" || type == "stz2") && video_) {
      frames_ += static_cast<std::int64_t>(bytes_.big_endian(at + 8, 4));
    } else if (type == "stsd" && video_) {
      read_palette(at, end);
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

  /// Whether the matrix at `at`, {a b u, c d v, x y w} in 1 / 2^16, mirrors at the other diagonal.
  bool is_transversed(std::uint64_t at) {
    constexpr std::uint64_t kMinusOne = 0xFFFF0000;
    const auto number = [&](std::uint64_t place) { return bytes_.big_endian(at + 4 * place, 4); };
    return number(0) == 0 && number(1) == kMinusOne && number(3) == kMinusOne && number(4) == 0;
  }

  /// A colour table in the description of a track (QuickTime File Format, "Video Sample Description"): of up
  /// to 256 colours of three times 16 bits, each behind a number of two bytes.
  void read_palette(std::uint64_t at, std::uint64_t end) {
    constexpr std::uint64_t kDepth = 90, kTable = 92, kLast = 100, kColours = 102, kColour = 8;
    constexpr std::uint64_t kMostDepth = 8, kMostColours = 256;
    if (bytes_.big_endian(at + kTable, 2) != 0 || bytes_.big_endian(at + kDepth, 2) > kMostDepth ||
        bytes_.read(at + kTable + 6, 4) == "ctab")  // a box, which demuxers find
      return;
    const std::uint64_t count = bytes_.big_endian(at + kLast, 2) + 1;
    if (count > kMostColours || at + kColours + count * kColour > end) return;
    std::array<std::uint32_t, kMostColours> words{};
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::uint64_t colour = at + kColours + i * kColour;
      const auto upper = [&](std::uint64_t place) {
        return static_cast<std::uint32_t>(bytes_.big_endian(colour + place, 1));
      };
      words[i] = 0xFF000000U | upper(2) << 16U | upper(4) << 8U | upper(6);
    }
    palette_.assign(reinterpret_cast<const char*>(words.data()), sizeof(words));
  }

  /// The duration in the headers of a movie and of a track's media.
  static Field length_field(std::uint64_t at, bool wide) {
    return {.at = at + (wide ? 24 : 16), .bytes = wide ? std::size_t{8} : std::size_t{4}};
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

  double end_of_edit() const {
    return begin_ + std::round(edited_ / std::max<double>(1, movie_scale_) * scale_);
  }
  /// Without the edit list, and with a duration that has room for all frames, a reader gives all of them.
  ShownPart shown_part() const {
    const auto nanoseconds = [](double ticks, double scale) {
      return static_cast<std::int64_t>(ticks * 1e9 / std::max<double>(1, scale));
    };
    constexpr std::uint64_t kTypeBytes = 4;
    double length = stored_;  // up to the last time at which a frame is shown
    for (const Run& offset : offsets_) length = std::max(length, stored_ + static_cast<double>(offset.value));
    return {.begin_ns = nanoseconds(begin_, scale_),
            .end_ns = nanoseconds(end_of_edit(), scale_),
            .delay_ns = nanoseconds(delay_, movie_scale_),
            .patches = {{edits_at_ - kTypeBytes, "free"},
                        movie_length_.written(std::ceil(length / std::max<double>(1, scale_) * movie_scale_)),
                        length_.written(length)}};
  }
  /// Frames that begin within the one edit; -1: nobody knows. One that began before it is left out, as other
  /// readers do, though it would be seen for a part of its time.
  std::int64_t shown_frames() const {
    if (edits_ != 1 || frames_ > kMostFrames) return -1;
    const double end = end_of_edit();
    std::int64_t shown = 0, frame = 0, decoded = 0, offsets_end = 0;
    auto offset = offsets_.begin();
    for (const Run& duration : durations_)
      for (std::int64_t i = 0; i < duration.count && frame < frames_; ++i, ++frame) {
        while (offset != offsets_.end() && offsets_end + offset->count <= frame)
          offsets_end += (offset++)->count;
        const auto time = static_cast<double>(decoded + (offset != offsets_.end() ? offset->value : 0));
        if (time >= begin_ && time < end) ++shown;
        decoded += duration.value;
      }
    return frame == frames_ ? shown : -1;
  }

  /// The length of the edit list at `at` in the scale of the movie, without edits that show nothing.
  double sum_of_edits(std::uint64_t at, bool wide) {
    constexpr std::uint64_t kMostEdits = 1000;
    const std::uint64_t count = std::min(kMostEdits, bytes_.big_endian(at + 4, 4));
    const std::size_t number = wide ? 8 : 4;
    double sum = 0;
    for (std::uint64_t edit = 0; edit < count; ++edit) {
      const std::uint64_t entry = at + 8 + edit * (2 * number + 4);
      if (bytes_.big_endian(entry + number, 4) == 0xFFFFFFFF) {
        if (track_edits_ == 0) track_delay_ += static_cast<double>(bytes_.big_endian(entry, number));
        continue;
      }
      sum += static_cast<double>(bytes_.big_endian(entry, number));
      if (track_edits_++ == 0) track_begin_ = static_cast<double>(bytes_.big_endian(entry + number, number));
    }
    return sum;
  }

  Bytes& bytes_;
  double movie_scale_ = 0, edited_ = 0, scale_ = 0, stored_ = 0;
  double begin_ = 0;  // where the part that the edit list shows begins, in the scale of the track
  double delay_ = 0, track_delay_ = 0;  // empty time before that part, in the scale of the movie
  std::uint64_t edits_at_ = 0, track_edits_at_ = 0;
  Field movie_length_, length_, track_length_;
  std::string palette_;
  bool transversed_ = false, track_transversed_ = false;
  double track_edited_ = 0, track_scale_ = 0, track_stored_ = 0,
         track_begin_ = 0;                // track_: of the track that is being read
  int edits_ = 0, track_edits_ = 0;       // edits that show something
  std::vector<Run> durations_, offsets_;  // of frames, when stored
  bool cut_off_ = false, video_ = false;  // video_: the track that is being read is the first one of video
  std::uint64_t track_ = 0;
  std::optional<std::uint64_t> video_track_;
  std::int64_t frames_ = -1;
};

}  // namespace

ContainerFacts mp4_facts(Bytes& bytes) {
  return Mp4(bytes).facts();
}

}  // namespace contorno
