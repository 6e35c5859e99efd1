// Who runs a computation whose parts do not depend on each other: one thread of the host, or the threads of a
// block (team.cuh). What is computed is written once, as templates over the team. A team has
//
//   each(count, f)    calls f(i) for 0 <= i < count, each once, in any order or at the same time, so that no
//                     call may need another one; when it returns, all calls have been made and their writes
//                     can be seen
//   count(count, f)   for how many of these i f(i) is true; all threads get the number
//
// All threads of a team call them together, with the same count.
#pragma once

#include <cstdint>

#include "base/host_device.h"

// nvcc instantiates these templates for host and device, and would warn where a team exists for one of them
// only.
#if defined(__CUDACC__)
#define CONTORNO_FOR_TEAMS _Pragma("nv_exec_check_disable")
#else
#define CONTORNO_FOR_TEAMS
#endif

namespace contorno {

struct OneThread {
  template <class F>
  void each(std::uint64_t count, const F& f) const {
    for (std::uint64_t i = 0; i < count; ++i) f(i);
  }
  template <class F>
  std::uint64_t count(std::uint64_t count, const F& f) const {
    std::uint64_t found = 0;
    for (std::uint64_t i = 0; i < count; ++i) found += f(i) ? 1U : 0U;
    return found;
  }
};

}  // namespace contorno
