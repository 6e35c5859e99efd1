// Judges whether every thread of every camera gets on: it makes steps, or is idle for a reason. What feeds a
// watchdog asks this first, so that a process one of whose threads hangs is not taken for a healthy one.
// Pure: times and signs are the caller's. For one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/run/thread_signs.h"

namespace contorno {

class ProgressJudge {
 public:
  /// A thread hangs that is at work, or idle without a reason, for longer than `limit_ns` without a step.
  explicit ProgressJudge(std::int64_t limit_ns) : limit_ns_(limit_ns) {}

  /// Looks at all cameras. A sentence about the first thread that hangs; nothing: all get on. Looks must not
  /// be further apart than the limit.
  std::optional<std::string> look(const std::vector<CameraThreads>& cameras, std::int64_t now_ns);

 private:
  struct Seen {
    std::uint64_t steps = 0;
    std::int64_t well_ns = 0;  // when it last made a step, or had a reason to be idle
  };
  bool is_new(std::size_t camera, const CameraThreads& threads);
  std::int64_t well_since(const ThreadSigns& thread, const Seen& seen) const;

  std::int64_t limit_ns_;
  std::int64_t worked_ns_ = 0;  // when a launcher or finisher of any camera last made a step
  std::vector<std::vector<Seen>> seen_;
};

}  // namespace contorno
