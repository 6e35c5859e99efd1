// What a comparison of two records found, and how well one goes with the truth, for people and for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/replay/compare_records.h"
#include "tools/replay/score_limits.h"
#include "tools/replay/scores.h"

namespace contorno {

/// Counts, what changed in the graph, which classes differ, the first difference in the order of the frames,
/// and the `most` worst frames, a line each.
std::string difference_text(const RecordDifference& difference, double tolerance, std::size_t most);

/// A table of the classes of each value, three frames with the smallest IoU, and the frames that could not be
/// scored.
std::string score_text(const std::vector<ValueScores>& scores);

/// Everything as JSON, also of each frame that is not the same: {"version": 1, "tolerance": px, "frames":
/// {"same", "within", "different"}, "distance": px or null where contours came or went whole, "graph":
/// [sentence], "classes": [{"value", "name", "frames", "lost", "added", "moved", "distance", "itself"}],
/// "differences":
/// [{"frame", "verdict", "lost", "added", "moved", "distance", "pictures", "first"}], "scores": [{"value",
/// "classes", "frames"}], "assertions": [{"held", "sentence"}]}. Without `difference` only the version,
/// scores and assertions, without scores or limits no such member.
std::string report_json(const RecordDifference* difference, double tolerance,
                        const std::vector<ValueScores>& scores,
                        const std::vector<ScoreLimit::Answer>& limits);

}  // namespace contorno
