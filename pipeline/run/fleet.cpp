#include "pipeline/run/fleet.h"

#include <algorithm>
#include <utility>

#include "pipeline/shared/resource_limits.h"

namespace contorno {

Fleet::Fleet(const std::vector<Runner*>& runners) {
  for (Runner* runner : runners) {
    members_.push_back(std::make_unique<Member>());
    members_.back()->runner = runner;
  }
}

Fleet::~Fleet() {
  for (const auto& member : members_)
    if (!member->done) member->runner->request_stop();
  wait();
}

void Fleet::run(Member& member) {
  try {
    member.report = member.runner->run();
  } catch (...) {
    member.failure = std::current_exception();
  }
  member.done = true;
}

void Fleet::start() {
  for (const auto& member : members_) member->done = false;
  try {
    for (const auto& member : members_) member->thread = start_thread([&one = *member] { run(one); });
  } catch (...) {
    request_stop();
    wait();
    for (const auto& member : members_) member->done = true;
    throw;
  }
}

void Fleet::request_stop() {
  for (const auto& member : members_) member->runner->request_stop();
}

bool Fleet::done() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& one) { return one->done.load(); });
}

FrameCounts Fleet::progress() const {
  FrameCounts sum;
  for (const auto& member : members_) sum += member->runner->progress();
  return sum;
}

bool Fleet::give_up_on_device(std::chrono::nanoseconds limit) {
  bool gave_up = false;
  for (const auto& member : members_)
    gave_up = (!member->done && member->runner->give_up_on_device(limit)) || gave_up;
  return gave_up;
}

void Fleet::wait() {
  for (const auto& member : members_)
    if (member->thread.joinable()) member->thread.join();
}

RunReport Fleet::take(std::size_t number) {
  Member& member = *members_.at(number);
  if (member.failure) std::rethrow_exception(member.failure);
  return std::move(member.report);
}

}  // namespace contorno
