// The one clock of the pipeline: monotonic nanoseconds. Wall-clock steps do not touch it.
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
