#include "pipeline/run/launch_gate.h"

#include <algorithm>

namespace contorno {

LaunchGate::LaunchGate(int permits, const std::vector<double>& weights) : free_(std::max(1, permits)) {
  for (const double weight : weights) members_.emplace_back().step = 1 / weight;
}

bool LaunchGate::enter(std::size_t number) {
  std::unique_lock lock(mutex_);
  Member& member = members_[number];
  if (!member.granted) stand(member);
  grant();
  member.changed.wait(lock, [&] { return member.granted || member.closed; });
  if (member.closed) return false;
  member.granted = false;
  ++member.held;
  return true;
}

bool LaunchGate::is_granted(std::size_t number) const {
  const std::lock_guard lock(mutex_);
  return members_[number].granted;
}

void LaunchGate::leave(std::size_t number, bool has_next) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[number];
  if (member.held == 0) return;  // closed meanwhile
  --member.held;
  ++free_;
  if (has_next) stand(member);
  grant();
}

void LaunchGate::line_up(std::size_t number) {
  const std::lock_guard lock(mutex_);
  stand(members_[number]);
  grant();
}

void LaunchGate::close(std::size_t number) {
  const std::lock_guard lock(mutex_);
  Member& member = members_[number];
  free_ += member.held + (member.granted ? 1 : 0);
  member.held = 0;
  member.waits = member.granted = false;
  member.closed = true;
  member.changed.notify_all();
  grant();
}

void LaunchGate::stand(Member& member) {
  if (member.waits || member.granted || member.closed) return;
  member.waits = true;
  member.start = std::max(now_, member.finish);
}

void LaunchGate::grant() {
  while (free_ > 0) {
    Member* next = nullptr;
    for (Member& member : members_)
      if (member.waits && (next == nullptr || member.start < next->start)) next = &member;
    if (next == nullptr) return;
    --free_;
    now_ = next->start;
    next->finish = next->start + next->step;
    next->waits = false;
    next->granted = true;
    next->changed.notify_all();
  }
}

}  // namespace contorno
