// What a video file says of itself in the structure of its container, read without decoding: how many frames
// it announces, and whether it ends before its structure does, as files do that were cut off. Reads headers
// only, whatever the size of the file. Stateless; from any thread.
#pragma once

#include <cstdint>
#include <string>

namespace contorno {

enum class ContainerKind : std::uint8_t { Unknown, Mp4, Avi, Matroska, Ogg, TransportStream, Gif };

struct ContainerFacts {
  ContainerKind kind = ContainerKind::Unknown;
  bool cut_off = false;           ///< bytes are missing at the end
  bool trimmed = false;           ///< an edit list leaves frames out, which are in the file
  std::int64_t frames = -1;       ///< that the first video track shows; -1: the container does not say
  std::uint64_t whole_bytes = 0;  ///< of a GIF: up to the end of its last whole frame
};

/// Facts about the regular file at `path`; those of an unknown kind when it cannot be read. Never throws for
/// damaged content.
ContainerFacts container_facts(const std::string& path);

}  // namespace contorno
