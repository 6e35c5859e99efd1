// Ctrl-C, SIGTERM and SIGHUP while a graph runs: the first asks for a clean end, a second one ends the
// process at once. Also which signals are no reason to die at all.
#pragma once

namespace contorno {

/// For the whole program: a file that grows beyond the limit for files is an error of its write.
void ignore_file_size_signal();

/// Installs the handlers for its lifetime. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// The signal that asked for an end, 0 while none did.
  static int requested();
};

}  // namespace contorno
