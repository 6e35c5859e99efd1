// What the scores of a replay have to hold: the options --assert, as "iou>=0.9" or "rot.hausdorff<3".
#pragma once

#include <string>
#include <vector>

#include "tools/condition.h"
#include "tools/replay/scores.h"

namespace contorno {

class ScoreLimit {
 public:
  struct Answer {
    bool held = false;
    std::string sentence;  ///< "class 'rot': IoU 0.8312, not >= 0.9"
  };

  /// Throws Error(Usage) with what is allowed, where the text is none or names no class of `classes`.
  ScoreLimit(const std::string& text, const std::vector<std::string>& classes);

  /// One answer for each class of each value that the limit is for. A class that has no such score, because
  /// neither results nor truth have it, is left out where no class is named, and not held where it is.
  std::vector<Answer> check(const std::vector<ValueScores>& scores) const;

 private:
  Condition condition_;
  std::string class_, figure_;
  double limit_ = 0;
};

/// The answers to all limits, in the order of the limits.
std::vector<ScoreLimit::Answer> check_scores(const std::vector<ScoreLimit>& limits,
                                             const std::vector<ValueScores>& scores);

}  // namespace contorno
