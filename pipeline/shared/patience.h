// How long a sink waits for those that take what it writes: the reader of a pipe, an encoder, a display. No
// thread is ever ended from outside, so every wait of a sink must ask ends(). A value that may be copied;
// `stopping` is borrowed. Safe from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "pipeline/shared/clock.h"
#include "pipeline/shared/work_sign.h"

namespace contorno {

struct Patience {
  std::chrono::nanoseconds limit{0};            ///< of one wait without progress; 0 = for ever
  const std::atomic<bool>* stopping = nullptr;  ///< true once the run was asked to end
  /// Gets a step for every look of a wait, which is no hang then. Borrowed; null: nobody watches.
  WorkSign* sign = nullptr;
  /// The limit once the run was asked to end.
  static constexpr std::chrono::nanoseconds kStopping = std::chrono::seconds(1);
  static constexpr std::chrono::milliseconds kLook{50};  ///< how often a wait asks ends()

  /// Said at every look by a wait that has its reason outside the program and does not ask ends().
  void note_wait() const {
    if (sign != nullptr) sign->note_step();
  }
  bool stops() const { return stopping != nullptr && *stopping; }
  /// True when a wait that began at `since_ns` (of now_ns()) has been long enough.
  bool ends(std::int64_t since_ns) const {
    note_wait();
    const std::chrono::nanoseconds waited(now_ns() - since_ns);
    if (stops()) return waited > (limit.count() > 0 ? std::min(limit, kStopping) : kStopping);
    return limit.count() > 0 && waited > limit;
  }
};

}  // namespace contorno
