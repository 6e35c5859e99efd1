// The parallel loop over contours on the CPU.
#pragma once

#include <algorithm>
#include <cstdint>

#include "pipeline/shared/loops.h"

namespace contorno {

/// Calls f(contour) for 0 <= contour < contours, as for_tasks does, but for several contours a task where
/// there are many: small ones take less time than a thread does to come for the next task.
template <class F>
void for_contours(int threads, std::uint64_t contours, const F& f) {
  constexpr std::uint64_t kTasksPerThread = 32, kMostPerTask = 256;
  const std::uint64_t each = std::clamp<std::uint64_t>(
      contours / (static_cast<std::uint64_t>(std::max(threads, 1)) * kTasksPerThread), 1, kMostPerTask);
  for_tasks(threads, static_cast<int>((contours + each - 1) / each), [&](int task) {
    const std::uint64_t first = static_cast<std::uint64_t>(task) * each,
                        end = std::min(first + each, contours);
    for (std::uint64_t contour = first; contour < end; ++contour) f(static_cast<std::uint32_t>(contour));
  });
}

}  // namespace contorno
