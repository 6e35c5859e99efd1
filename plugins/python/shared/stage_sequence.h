// The stage that works on frames one after the other, of one call or of a Tracker: where it knows of earlier
// frames (PlanContext::state), all of them must come to the same one. Functions are called with the GIL held.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pipeline/graph/direct.h"

namespace contorno::python {

class StageSequence {
 public:
  StageSequence() = default;
  ~StageSequence();
  StageSequence(const StageSequence&) = delete;
  StageSequence& operator=(const StageSequence&) = delete;

  /// The stage for the next frame: that of the frames before, or else an idle one that was given with this
  /// key, without a past, or one that `make` makes. It is away until `give`: throws Error(BadOption) when it
  /// was not given back, because a call failed or another thread is at work.
  std::unique_ptr<DirectStage> take(const std::string& key,
                                    const std::function<std::unique_ptr<DirectStage>()>& make);
  /// After a frame that was complete.
  void give(const std::string& key, std::unique_ptr<DirectStage> stage);

  /// Births, deaths and forgotten objects of each class.
  const std::vector<TrackCounts>& track_counts() const { return counts_; }

 private:
  std::string key_;
  std::unique_ptr<DirectStage> stage_;
  std::vector<TrackCounts> counts_;
  bool away_ = false;
};

/// A frame of a sequence, and its number.
struct SequenceFrame {
  StageSequence& sequence;
  std::uint64_t number = 0;
};

}  // namespace contorno::python
