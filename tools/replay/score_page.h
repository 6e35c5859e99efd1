// The part of a replay's page about truth: a table of the classes, and the frames with the smallest IoU,
// whose contours are drawn over what is true.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/replay/score_limits.h"
#include "tools/replay/scores.h"
#include "tools/replay/truth.h"

namespace contorno {

/// What the pictures are made of. References are borrowed.
struct ScorePage {
  std::filesystem::path record;
  const std::vector<RecordedValue>& values;
  const Truth& truth;
  const std::vector<ScoreLimit::Answer>& limits;
  std::size_t most = 0;  ///< frames that are drawn, the worst ones
};

/// Throws as recorded_contours and Truth::regions.
std::string score_section(const ScorePage& page, const std::vector<ValueScores>& scores);

}  // namespace contorno
