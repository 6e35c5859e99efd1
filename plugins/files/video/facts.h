// What a video file says of itself in the structure of its container, read without decoding: how many frames
// it announces, and whether it ends before its structure does, as files do that were cut off. Reads headers
// only, whatever the size of the file. Stateless; from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace contorno {

enum class ContainerKind : std::uint8_t { Unknown, Mp4, Avi, Matroska, Ogg, TransportStream, Gif };

/// What the one edit of an MP4 file shows of its video track, where that is less than the whole or begins
/// late.
struct ShownPart {
  std::int64_t begin_ns = 0,
               end_ns = 0;    ///< frames that begin from here on, and before there; of the media's times
  std::int64_t delay_ns = 0;  ///< when the first of them is due
  /// Bytes that stand in the place of those in the file for a reader that shall give all frames.
  struct Patch {
    std::uint64_t at = 0;
    std::string bytes;
  };
  std::vector<Patch> patches;
};

struct ContainerFacts {
  ContainerKind kind = ContainerKind::Unknown;
  bool cut_off = false;            ///< bytes are missing at the end
  bool trimmed = false;            ///< an edit list leaves frames out, which are in the file
  std::optional<ShownPart> shown;  ///< the part that an edit list of one part shows, where that is not all
  std::int64_t frames = -1;       ///< frames that the first video track shows; -1: the container does not say
  std::uint64_t whole_bytes = 0;  ///< bytes of a GIF up to the end of its last whole frame
  /// Whether the matrix of a track of MP4 or QuickTime mirrors the picture at its other diagonal.
  bool transversed = false;
  /// The palette of a track of MP4 or QuickTime whose samples are places in one: 256
  /// colours, words of ARGB of the machine's order.
  std::string palette;
  /// When each whole frame of a GIF begins, in ns, and behind the last of them when that ends.
  std::vector<std::int64_t> times_ns;
};

/// Facts about the regular file at `path`; those of an unknown kind when it cannot be read. Never throws for
/// damaged content.
ContainerFacts container_facts(const std::string& path);

}  // namespace contorno
