#include "plugins/python/shared/stage_sequence.h"

#include <utility>

#include "base/error.h"
#include "plugins/python/shared/idle.h"

namespace contorno::python {

StageSequence::~StageSequence() {
  if (stage_) Idle<DirectStage>::instance().give(key_, std::move(stage_));
}

std::unique_ptr<DirectStage> StageSequence::take(const std::string& key,
                                                 const std::function<std::unique_ptr<DirectStage>()>& make) {
  if (away_)
    throw Error(ExitCode::BadOption,
                "an earlier frame of this sequence failed, or is at work in another thread; begin a new one");
  away_ = true;
  if (stage_) return std::move(stage_);
  std::unique_ptr<DirectStage> stage = Idle<DirectStage>::instance().take(key);
  if (!stage) stage = make();
  stage->begin_anew();
  return stage;
}

void StageSequence::give(const std::string& key, std::unique_ptr<DirectStage> stage) {
  away_ = false;
  if (!stage->has_state()) return Idle<DirectStage>::instance().give(key, std::move(stage));
  const auto counts = stage->track_counts();
  counts_.assign(counts.begin(), counts.end());
  if (key_.empty()) key_ = key;
  stage_ = std::move(stage);
}

}  // namespace contorno::python
