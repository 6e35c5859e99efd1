// What a comparison of two records found, for people and for programs.
#pragma once

#include <cstddef>
#include <string>

#include "tools/replay/compare_records.h"

namespace contorno {

/// Counts, the first difference in the order of the frames, and the `most` worst frames, a line each.
std::string difference_text(const RecordDifference& difference, double tolerance, std::size_t most);

/// Everything, also of each frame that is not the same, as JSON: {"version": 1, "tolerance": px, "frames":
/// {"same", "within", "different"}, "distance": px or null where contours came or went whole, "differences":
/// [{"frame", "verdict", "lost", "added", "moved", "distance", "pictures", "first"}]}.
std::string difference_json(const RecordDifference& difference, double tolerance);

}  // namespace contorno
