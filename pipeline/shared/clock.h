// The clock of the pipeline: monotonic nanoseconds, which do not jump when the system's time is set.
#pragma once

#include <chrono>
#include <cstdint>

namespace contorno {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace contorno
