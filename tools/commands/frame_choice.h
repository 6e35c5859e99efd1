// Which frames of its source a command takes: --frames, --start, --every and --live, the same for all
// commands that run a source once.
#pragma once

#include <cstdint>
#include <optional>

#include "pipeline/graph/source.h"
#include "tools/source_param.h"

namespace CLI {
class App;
}

namespace contorno {

struct FrameChoice {
  std::uint64_t frames = 0;                  ///< most that are taken; 0 = all
  std::optional<std::int64_t> start, every;  ///< nothing: as the graph says
  bool live = false;                         ///< true: at the rate they were recorded at

  /// Sets the source's parameters `start`, `every` and `live`. Throws as set_source_param.
  void set(SourceSpec& source) const;
  /// How many frames will come of a stream; -1 where nobody knows.
  std::int64_t expected(const StreamFormat& stream) const { return expected(stream.frame_count); }
  std::int64_t expected(std::int64_t frame_count) const;
};

/// Adds the options; `choice` must outlive the command.
void add_frame_choice(CLI::App& command, FrameChoice& choice);

}  // namespace contorno
