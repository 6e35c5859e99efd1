// How many threads the CPU backend may be told to use: one range and one default for every command, every
// graph and every function.
#pragma once

#include <algorithm>
#include <thread>

namespace contorno {

/// The most threads that can be asked for. More are of no use on any machine, and OpenMP's library keeps the
/// list of a team on the caller's stack.
inline constexpr int kMostThreads = 1024;

/// `wanted`, or as many as the machine has where it is 0.
inline int decided_threads(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace contorno
