// What the operating system says that the process has used so far.
#pragma once

#include "tools/latency/measure.h"

namespace contorno::latency {

/// Counts since the process began; the difference of two is what was used in between.
struct UsedSoFar {
  std::int64_t at_ns = 0;
  double cpu_s = 0;
  std::int64_t heap_bytes = 0, minor_faults = 0, major_faults = 0, involuntary_switches = 0,
               resident_bytes = 0;
};
UsedSoFar used_so_far();
Resources used_between(const UsedSoFar& begin, const UsedSoFar& end);

}  // namespace contorno::latency
