// Which frames of a dataset a replay takes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/graph/graph.h"

namespace contorno {

/// Frames by their places in the dataset, counted from 0: `first`, `first` + `step` and so on, before `stop`.
struct FrameSelection {
  std::uint64_t first = 0, step = 1;
  std::optional<std::uint64_t> stop;

  /// Where the frame with this number in the run lies in the dataset.
  std::uint64_t place_of(std::uint64_t number) const { return first + number * step; }
  bool takes(std::uint64_t place) const {
    return place >= first && (place - first) % step == 0 && (!stop || place < *stop);
  }
  /// How many frames there are before `stop`; 0 = as many as the dataset has.
  std::uint64_t count() const { return stop && *stop > first ? (*stop - first + step - 1) / step : 0; }
};

/// Part `index`, counted from 0, of `count` parts of a dataset.
struct Shard {
  std::uint64_t index = 0, count = 1;
};
/// Reads "2/8". Throws Error(Usage).
Shard shard_of(std::string_view text);

/// A whole number among the parameters of a source; `otherwise` where it has none of this name.
std::uint64_t source_number(const SourceSpec& source, const char* name, std::uint64_t otherwise);

/// From frame `start` to the one before `stop` (0 = the end), counted as the graph takes them: `start` and
/// `every` of its source hold. Shards take turns: each takes every `count`-th frame, and no two the same.
FrameSelection select_frames(const SourceSpec& source, std::uint64_t start, std::uint64_t stop,
                             const Shard& shard);

}  // namespace contorno
