// How long a sink waits for whoever takes what it writes: the reader of a pipe, an encoder, a display. No
// thread is ever ended from outside, so every wait of a sink has to look here. A value, copied freely;
// `stopping` is borrowed. Any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "pipeline/shared/clock.h"

namespace contorno {

struct Patience {
  std::chrono::nanoseconds limit{0};  ///< of one wait without progress; 0 = for ever
  const std::atomic<bool>* stopping =
      nullptr;  ///< true once the run was asked to end; then kStopping is the limit
  static constexpr std::chrono::nanoseconds kStopping = std::chrono::seconds(1);
  static constexpr std::chrono::milliseconds kLook{50};  ///< how often a wait asks

  bool stops() const { return stopping != nullptr && *stopping; }
  /// True when a wait that began at `since_ns` (of now_ns()) has been long enough.
  bool ends(std::int64_t since_ns) const {
    const std::chrono::nanoseconds waited(now_ns() - since_ns);
    if (stops()) return waited > (limit.count() > 0 ? std::min(limit, kStopping) : kStopping);
    return limit.count() > 0 && waited > limit;
  }
};

}  // namespace contorno
