// Computes the results of a graph on a dataset, or on a part of it, into the folder of a record.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/runner.h"
#include "tools/replay/frames.h"
#include "tools/replay/record.h"

namespace contorno {

struct ReplayOptions {
  std::string graph_file;             ///< which no output may replace
  std::uint64_t start = 0, stop = 0;  ///< frames of the graph's source, from 0; stop 0: the end
  Shard shard;
  /// The folder of a record that is gone on with: the frames that it has are left out.
  std::optional<std::filesystem::path> resume;
  std::optional<double> speed;  ///< how many times as fast as recorded; nothing: as fast as possible
  bool quiet = false;
};

struct Replay {
  GraphSpec graph;
  GraphSpec given;        ///< the graph as it is given, for the whole dataset, and bound to its source
  FrameSelection whole;   ///< the frames that are asked for
  FrameSelection frames;  ///< those of them that are left to compute
  std::vector<RecordedValue> values;
  /// What delivers the latter; null: none is left. compute_replay moves it away, so a Replay is computed
  /// once.
  std::unique_ptr<Source> source;
  PlacementsOfValues placements;  ///< of the frames that were computed
};

/// Finds out what is to be computed, and opens the source. Throws what config::open_source, select_frames and
/// recorded_values throw.
Replay prepare_replay(GraphSpec graph, const ReplayOptions& options);

/// Computes into `folder`, which exists. Returns an empty report where `source` is null. Throws Error where a
/// result could not be written; frames that fail are part of the record.
RunReport compute_replay(Replay& replay, const std::string& folder, const ReplayOptions& options);

}  // namespace contorno
