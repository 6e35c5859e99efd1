// Where addresses or threads are limited (ulimit -v, ulimit -u, limits of a container): what to ask before a
// library that ends the process when it gets none. Functions without state of their own, for any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <thread>

namespace contorno {

/// Throws Error(OutOfMemory), "out of memory PURPOSE: ...", when the process may not map `bytes` more at this
/// moment.
void require_addresses(std::size_t bytes, const char* purpose);

/// Throws Error(OutOfMemory), "out of threads PURPOSE: ...", when the process cannot start `count` more at
/// this moment.
void require_threads(int count, const char* purpose);

/// How many of `wanted` threads a parallel loop of the calling thread can have, at least 1. OpenMP's library
/// ends the process when a thread cannot be started, so this tries it, once for each larger number that the
/// calling thread asks for.
int threads_to_have(int wanted);

/// A thread that runs `body`. Throws Error(OutOfMemory) when none can be started.
std::thread start_thread(std::function<void()> body);

}  // namespace contorno
