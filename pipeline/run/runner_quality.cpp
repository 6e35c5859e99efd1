// What a runner does with levels of quality: which frame runs at which, and who is told.
#include <optional>
#include <utility>

#include "pipeline/run/runner.h"
#include "pipeline/shared/clock.h"

namespace contorno {

/// The level of quality at which a frame is worked on, and whether it is one of those that are left out.
void Runner::choose_level(Slot& slot) {
  slot.level = options_.level_of ? options_.level_of(slot.number) : level_.load();
  if (slot.level == 0) {
    slot.graph = slot.graphs[0].get();
    leaves_out_ = false;
    return;
  }
  const QualityLevels::Level& level = options_.quality->levels[static_cast<std::size_t>(slot.level) - 1];
  slot.graph = slot.graphs[level.graph].get();
  if (level.thins && leaves_out_) slot.outcome = Outcome::Thinned;
  leaves_out_ = level.thins && !leaves_out_;
}

/// Behind a frame that is done: whether those that come next are worked on at another level.
std::optional<CameraNews> Runner::judge_load(const Slot& slot) {
  const std::int64_t now = now_ns();
  if (!options_.level_of && stream_.live) note_load(slot, now);  // a recording waits
  const int level = options_.level_of ? options_.level_of(slot.number + 1) : degrader_->level();
  if (level == level_) return std::nullopt;
  level_ = level;
  return CameraNews{.at_ns = now, .state = name_of(state_), .level = level};
}

void Runner::note_load(const Slot& slot, std::int64_t now) {
  const std::uint64_t ring_full = ring_full_;
  if (std::exchange(drops_judged_, ring_full) != ring_full || slot.outcome == Outcome::Deadline)
    degrader_->note_drop(now);
  if (slot.outcome == Outcome::Result)
    degrader_->note_result({.now = now,
                            .level = slot.level,
                            .wait = slot.launched_ns - slot.arrived_ns,
                            .work = slot.finished_ns - slot.launched_ns,
                            .deadline = static_cast<std::int64_t>(graph_.settings.deadline_ms * 1e6),
                            .interval = interval_ns_});
}

void Runner::note_state(CameraState state) {
  state_ = state;
  delivery_.tell({.at_ns = now_ns(), .state = name_of(state), .level = level_}, 0);
}

}  // namespace contorno
