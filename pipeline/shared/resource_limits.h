// What the process may still take where its address space or threads are limited (ulimit -v, ulimit -u, a
// container). GLib and OpenMP abort the process when they get no memory or thread, so these functions are
// called before them. Those named require_ are checks, not reservations. No state is shared between threads.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <thread>

namespace contorno {

/// Throws Error(OutOfMemory) when `bytes` more of address space cannot be mapped now. `purpose` completes the
/// message "out of memory PURPOSE: it takes 64 MiB of addresses ...", for example "to draw text".
void require_addresses(std::size_t bytes, const char* purpose);

/// Throws Error(OutOfMemory) when `count` more threads cannot be started now. `purpose` as above, in a
/// message that begins "out of threads".
void require_threads(int count, const char* purpose);

/// How many of `wanted` threads a parallel loop of the calling thread can use, at least 1. Starts and ends
/// that many threads to find out. The answer is kept for each calling thread, as OpenMP keeps its threads,
/// also where it was less than was wanted; only a larger `wanted` is tried again.
int usable_threads(int wanted);

/// A thread that runs `body`, with a name for those who look at the process ("launcher north"), of which
/// Linux keeps the first 15 bytes. The caller joins or detaches it; `body` must not throw. Throws
/// Error(OutOfMemory) when none can be started.
std::thread start_thread(std::string name, std::function<void()> body);

}  // namespace contorno
