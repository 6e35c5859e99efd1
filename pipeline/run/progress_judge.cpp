#include "pipeline/run/progress_judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace contorno {
namespace {

std::string name_of(const ThreadSigns& thread) {
  switch (thread.role) {
    case ThreadRole::Reader:
      return "the reader";
    case ThreadRole::Launcher:
      return "the launcher";
    case ThreadRole::Finisher:
      return "the finisher";
    case ThreadRole::Writer:
      return fmt::format("the sink '{}'", thread.sink);
  }
  throw InternalError("unknown role of a thread");
}

/// Whether it need not make a step.
bool has_reason(const ThreadSigns& thread) {
  switch (thread.activity) {
    case Activity::Gone:
    case Activity::Waiting:
      return true;
    case Activity::Idle:
      return !thread.has_input;
    case Activity::AtGate:
    case Activity::AtWork:
      return false;
  }
  throw InternalError("unknown activity of a thread");
}

bool lets_others_go_on(const ThreadSigns& thread) {
  return (thread.role == ThreadRole::Launcher || thread.role == ThreadRole::Finisher) &&
         thread.activity != Activity::AtGate;
}

}  // namespace

/// A camera that was not there at the look before, or whose runner is another.
bool ProgressJudge::is_new(std::size_t camera, const CameraThreads& threads) {
  if (seen_[camera].size() == threads.threads.size()) return false;
  seen_[camera].assign(threads.threads.size(), {});
  return true;
}

/// Who waits for a permit is well as long as those get on that have the permits.
std::int64_t ProgressJudge::well_since(const ThreadSigns& thread, const Seen& seen) const {
  return thread.activity == Activity::AtGate ? std::max(seen.well_ns, worked_ns_) : seen.well_ns;
}

std::optional<std::string> ProgressJudge::look(const std::vector<CameraThreads>& cameras,
                                               std::int64_t now_ns) {
  seen_.resize(cameras.size());
  for (std::size_t camera = 0; camera < cameras.size(); ++camera) {
    const bool begins = is_new(camera, cameras[camera]);
    for (std::size_t i = 0; i < seen_[camera].size(); ++i) {
      const ThreadSigns& thread = cameras[camera].threads[i];
      Seen& seen = seen_[camera][i];
      const bool stepped = begins || thread.steps != seen.steps;
      if (stepped && lets_others_go_on(thread)) worked_ns_ = now_ns;
      if (stepped || has_reason(thread)) seen.well_ns = now_ns;
      seen.steps = thread.steps;
    }
  }
  for (std::size_t camera = 0; camera < cameras.size(); ++camera)
    for (std::size_t i = 0; i < seen_[camera].size(); ++i) {
      const ThreadSigns& thread = cameras[camera].threads[i];
      const std::int64_t without = now_ns - well_since(thread, seen_[camera][i]);
      if (without <= limit_ns_) continue;
      const std::string_view name = cameras[camera].camera;
      return fmt::format("{}{}{} has made no step for {:.1f} s and is {}", name, name.empty() ? "" : ": ",
                         name_of(thread), static_cast<double>(without) * 1e-9,
                         thread.activity == Activity::AtWork ? "at work" : "idle without a reason");
    }
  return std::nullopt;
}

}  // namespace contorno
