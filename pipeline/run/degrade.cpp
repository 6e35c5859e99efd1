#include "pipeline/run/degrade.h"

#include <algorithm>

namespace contorno {

/// Of as many frames as the level has had.
double Degrader::p90(const Window& window) const {
  const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(frames_, kWindow));
  if (count == 0) return 0;
  Window sorted = window;
  const std::size_t rank = (9 * count + 9) / 10;  // of 1 to count
  const auto place = sorted.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(sorted.begin(), place, sorted.begin() + static_cast<std::ptrdiff_t>(count));
  return *place;
}

void Degrader::note_result(const Frame& frame) {
  if (frame.level != level_) return;
  std::int64_t limit = frame.interval;
  if (frame.deadline > 0) limit = limit > 0 ? std::min(limit, frame.deadline) : frame.deadline;
  if (limit <= 0) return;
  const auto part = [&](std::int64_t time) { return static_cast<double>(time) / static_cast<double>(limit); };
  const auto place = static_cast<std::size_t>(frames_ % kWindow);
  loads_[place] = part(frame.wait + frame.work);
  costs_[place] = part(frame.work);
  ++frames_;
  if (frames_ >= kWindow && frames_ % kBetweenLooks == 0) look(frame.now);
}

void Degrader::look(std::int64_t now) {
  note_ratio();
  const double load = p90(loads_);
  looks_above_ = load > kHigh ? looks_above_ + 1 : 0;
  if (load >= kLow)
    is_below_ = false;
  else if (!is_below_)
    is_below_ = true, below_since_ = now;
  if (looks_above_ >= 2) return go_coarser(now);
  if (level_ == 0 || !is_below_ || now - below_since_ < quiet_ || !may_change(now)) return;
  const double predicted = p90(costs_) * ratios_[static_cast<std::size_t>(level_) - 1];
  if (predicted < kMostPredicted) go_finer(now);
}

/// What the finer level's last frames cost was measured under the load that made this level necessary. It is
/// compared with what frames cost here right after the change, so that it can be told later, under another
/// load, what they would cost there.
void Degrader::note_ratio() {
  if (!wants_ratio_ || frames_ == 0) return;
  wants_ratio_ = false;
  const double cost = p90(costs_);
  ratios_[static_cast<std::size_t>(level_) - 1] = cost > 0 && finer_cost_ > 0 ? finer_cost_ / cost : 1;
}

void Degrader::note_drop(std::int64_t now) {
  is_below_ = false;
  go_coarser(now);
}

void Degrader::go_coarser(std::int64_t now) {
  if (level_ + 1 >= levels_ || !may_change(now)) return;
  note_ratio();
  const double cost = p90(costs_);
  if (has_gone_finer_) {
    const std::int64_t held = now - went_finer_;
    if (held < kRelapse)
      quiet_ = std::min(2 * quiet_, kLongestQuiet);
    else if (held >= kLongestQuiet)
      quiet_ = kFirstQuiet;
    has_gone_finer_ = false;
  }
  begin_level(level_ + 1, now);
  wants_ratio_ = true, finer_cost_ = cost;
}

void Degrader::go_finer(std::int64_t now) {
  begin_level(level_ - 1, now);
  has_gone_finer_ = true, went_finer_ = now;
}

void Degrader::begin_level(int level, std::int64_t now) {
  level_ = level;
  frames_ = 0, looks_above_ = 0, is_below_ = false, wants_ratio_ = false;
  has_changed_ = true, changed_ = now;
}

}  // namespace contorno
